// SPDX-License-Identifier: MIT
// What a node offers and on what terms, whose offers are used, where outputs of
// nodes go, and how long recovery waits for what a node had.
#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>

#include "runtime/node/hosted_calls.hpp"
#include "runtime/service/stored_request.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/kept_file.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

/// A process with `write`, which changes something, and `read`.
struct own_tools {
  own_tools() {
    settings.defaults.workspace = folder.path().string();
    REQUIRE(own.add(tools::make_write()));
    REQUIRE(own.add(tools::make_read()));
    REQUIRE(own.add(tools::make_edit()));
  }
  config::tool_config& of(const std::string& name) {
    return settings.by_name.try_emplace(name, settings.defaults).first->second;
  }
  [[nodiscard]] std::optional<cluster::tool_offer> offer(
      const std::string& name) const {
    return offer_of(**own.find(name), settings);
  }
  [[nodiscard]] std::string unused(const cluster::tool_offer& x) const {
    return why_unused(x, own, settings).value_or("it is used");
  }
  [[nodiscard]] std::optional<error> admit(tool_call& x) const {
    return admit_call(x, own, settings);
  }

  testing::temp_folder folder;
  config::tools_config settings;
  tools::registry own;
};

tool_call write_call(const std::string& arguments) {
  tool_call x;
  x.id = call_id{"call_1"};
  x.tool = "write";
  x.arguments = arguments;
  x.needs_approval = true;
  x.limits.timeout = 10s;
  x.limits.idle_timeout = 10s;
  return x;
}

constexpr const char* good = R"({"path":"a.txt","content":"x"})";

/// Runs what it was given last first, when it is told to.
struct backward final : executor {
  using executor::submit;
  void submit(job work, queue_ticket, job) override {
    jobs.push_front(std::move(work));
  }
  void run_all() {
    while (!jobs.empty()) {
      const auto next = std::move(jobs.front());
      jobs.pop_front();
      next();
    }
  }
  std::deque<job> jobs;
};

struct kept_pieces {
  void give(std::uint64_t offset, const std::string& bytes) {
    keep(id, cluster::piece{offset, bytes},
         [this](bool kept) { answers.push_back(kept); });
  }
  [[nodiscard]] std::string text() const {
    std::ifstream in{*tools::kept_file(folder.path(), id)};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] bool there() const {
    return std::filesystem::exists(*tools::kept_file(folder.path(), id));
  }

  const call_id id{"call_1"};
  testing::temp_folder folder;
  std::shared_ptr<backward> aside = std::make_shared<backward>();
  piece_keeper keep = keep_in(folder.path(), aside);
  std::vector<bool> answers;
};

}  // namespace

TEST_CASE("a node offers its tools on the terms of its own file") {
  own_tools x;
  const auto plain = x.offer("write");
  REQUIRE(plain);
  CHECK(plain->eff == effect::mutating);
  CHECK(plain->needs_approval);
  CHECK(plain->idempotent);  // as the tool says
  CHECK(plain->places == x.settings.defaults.concurrency);
  CHECK_FALSE(x.offer("edit")->idempotent);
  auto& mine = x.of("write");
  mine.approval = "allow";
  x.of("edit").idempotent = true;
  mine.keys = {"/path"};
  mine.timeout = 7s;
  mine.concurrency = 3;
  const auto set = x.offer("write");
  REQUIRE(set);
  CHECK_FALSE(set->needs_approval);
  CHECK(x.offer("edit")->idempotent);
  CHECK(set->keys == std::vector<std::string>{"/path"});
  CHECK(set->timeout == duration{7s});
  CHECK(set->places == 3);
  CHECK(x.offer("read")->eff == effect::read_only);
  CHECK_FALSE(x.offer("read")->needs_approval);
  mine.approval = "deny";
  CHECK_FALSE(x.offer("write"));
}

TEST_CASE("what a node offers is not used where it is looser than ours") {
  own_tools x;
  auto offer = *x.offer("read");
  CHECK(x.unused(offer).empty());  // nobody said that others may run it
  x.of("read").nodes = {"*"};
  CHECK(x.unused(offer) == "it is used");
  SECTION("of other parameters") {
    offer.parameters = R"({"type":"object"})";
    CHECK(x.unused(offer).find("parameters") != std::string::npos);
  }
  SECTION("it changes something") {
    offer.eff = effect::mutating;
    CHECK(x.unused(offer).find("it changes something") == 0);
  }
  SECTION("it orders calls") {
    offer.keys = {"/path"};
    CHECK(x.unused(offer).find("`/path` (keys)") != std::string::npos);
    x.of("read").keys = {"/path"};
    CHECK(x.unused(offer) == "it is used");
  }
  SECTION("it asks for approval") {
    offer.needs_approval = true;
    CHECK(x.unused(offer).find("asks for approval") != std::string::npos);
  }
  SECTION("its key is none") {
    offer.keys = {"path"};
    CHECK(x.unused(offer).find("no JSON pointer") != std::string::npos);
  }
}

TEST_CASE("a tool of a node has a description of some length at most") {
  const own_tools x;
  cluster::tool_offer offer;
  offer.name = "look";
  offer.description = std::string((64u << 10) + 1, 'x');
  offer.parameters = R"({"type":"object"})";
  CHECK(x.unused(offer).find("64 KiB") != std::string::npos);
  offer.description.pop_back();
  CHECK(x.unused(offer) == "it is used");
}

TEST_CASE("a node narrows the limits of a call, and widens none") {
  own_tools x;
  auto& mine = x.of("write");
  SECTION("its own are shorter") {
    mine.timeout = 2s;
    mine.idle_timeout = 1s;
    auto call = write_call(good);
    REQUIRE_FALSE(x.admit(call));
    CHECK(call.limits.timeout == duration{2s});
    CHECK(call.limits.idle_timeout == duration{1s});
  }
  SECTION("its own are longer, or none") {
    mine.timeout = 1h;
    mine.idle_timeout = duration{};
    auto call = write_call(good);
    REQUIRE_FALSE(x.admit(call));
    CHECK(call.limits.timeout == duration{10s});
    CHECK(call.limits.idle_timeout == duration{10s});
  }
}

TEST_CASE("a node looks at arguments, effect and approval itself") {
  own_tools x;
  auto wrong = write_call(R"({"path":7})");
  REQUIRE(x.admit(wrong));
  auto call = write_call(good);
  call.eff = effect::read_only;
  call.idempotent = false;
  call.node = "elsewhere";
  REQUIRE_FALSE(x.admit(call));
  CHECK(call.eff == effect::mutating);
  CHECK(call.idempotent);
  CHECK(call.node.empty());
  auto unasked = write_call(good);
  unasked.needs_approval = false;
  const auto why = x.admit(unasked);
  REQUIRE(why);
  CHECK(why->code == errc::approval_denied);
  CHECK(why->message.find("nobody was asked") != std::string::npos);
}

TEST_CASE("what changes something for others runs in a process") {
  own_tools x;
  config::config node;
  node.node.tools = {"read", "write"};
  const auto made = with_processes(node, x.own);
  CHECK(made->tools.of("write").isolation == "process");
  CHECK(made->tools.of("read").isolation == "thread");
}

TEST_CASE("pieces of a node's output are kept in their order, on any threads") {
  kept_pieces x;
  for (int i = 0; i < 4; ++i)
    x.give(static_cast<std::uint64_t>(i) * 3,
           std::string(3, 'a' + static_cast<char>(i)));
  x.aside->run_all();
  CHECK(x.answers == std::vector<bool>(4, true));
  CHECK(x.text() == "aaabbbcccddd");
  x.give(0, "anew");  // another attempt
  x.aside->run_all();
  CHECK(x.text() == "anew");
  x.give(0, "");  // it is lost
  x.aside->run_all();
  CHECK_FALSE(x.there());
}

TEST_CASE("a node's pieces lie one behind the other, or nothing is kept") {
  kept_pieces x;
  const auto at = GENERATE(as<std::uint64_t>{}, 2, 5, std::uint64_t{1} << 62);
  x.give(0, "aaa");
  x.aside->run_all();
  REQUIRE(x.there());
  x.give(at, "bbb");
  x.aside->run_all();
  CHECK(x.answers == std::vector<bool>{true, false});
  CHECK_FALSE(x.there());
  x.give(3, "ccc");  // one that was on its way
  x.aside->run_all();
  CHECK_FALSE(x.there());
}

TEST_CASE("a node's output beyond what is kept of a call is not kept") {
  kept_pieces x;
  x.give(0, "a");
  x.aside->run_all();
  // As large as one may be, and without the disk that it would take.
  std::filesystem::resize_file(*tools::kept_file(x.folder.path(), x.id),
                               tools::most_kept_bytes);
  x.give(tools::most_kept_bytes, "b");
  x.aside->run_all();
  CHECK(x.answers == std::vector<bool>{true, false});
  CHECK_FALSE(x.there());
}

TEST_CASE("recovery waits by the times that its run began with") {
  constexpr auto agreed = 700ms;
  const std::shared_ptr<storage::journal> journal =
      storage::make_memory_journal();
  service::stored_request began;
  began.node_timeout = agreed;
  storage::run_record run;
  run.id = run_id{"run_1"};
  run.session = session_id{"s"};
  run.settings = to_json(began);
  REQUIRE(journal->open_run(run));
  config::config now;
  now.cluster.orphan_after = now.cluster.heartbeat = 1ms;
  now.tools.defaults.kill_grace = 1ms;
  const auto wait = node_wait(now, journal);
  storage::call_record call;
  call.run = run.id;
  call.attempt = 1;
  call.call.node = "alpha";
  const auto begin = std::chrono::steady_clock::now();
  wait(call);
  CHECK(std::chrono::steady_clock::now() - begin >= agreed);
}
