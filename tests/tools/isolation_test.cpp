// SPDX-License-Identifier: MIT
// Tools in child processes, and every way in which a child can be lost.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/worker.hpp"
#include "tests/tools/broken_child.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/isolated_tool.hpp"
#include "tools/process/process_tree.hpp"
#include "tools/process/worker_pipe.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace riffle::testing;
using nlohmann::json;

namespace {

/// Does what its argument says.
class wild_tool final : public tool {
 public:
  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }
  [[nodiscard]] std::string title(const json&) const override { return "W"; }

  tool_output run(const json& arguments, tool_context& context) override {
    const std::string what = arguments.at("do");
    if (what == "segfault") {
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler of its own
      ::raise(SIGSEGV);
    }
    if (what == "kill") ::raise(SIGKILL);
    if (what == "freeze") ::raise(SIGSTOP);
    if (what == "abort") {
      std::cerr << "it is broken" << std::endl;
      std::abort();
    }
    if (what == "exit") std::exit(7);
    if (what == "close") ::shutdown(worker_channel(), SHUT_RDWR);
    if (what == "garbage") ::send(worker_channel(), "nonsense", 8, 0);
    if (what == "cut off")
      say_to_runtime(encode(work::lost{context.call, 1, "x"}), 9);
    if (what == "no kind") say_to_runtime(std::string(8, '\xff'));
    if (what == "for a child")
      say_to_runtime(encode(work::stop{context.call, 1}));
    if (what == "too long") flood_runtime();
    if (what == "other version") {
      work::offer next;
      next.version = work::version + 1;
      say_to_runtime(encode(next));
    }
    if (what == "throw") throw std::runtime_error{"thrown"};
    if (what == "wait") return wait(context);
    if (what == "hang" || breaks_off(what))
      for (;;) ::pause();
    if (what == "tree") return tree(arguments, context);
    if (what == "fail")
      return {"out", error{errc::timeout, "wild", "too slow"}, R"({"a":1})"};
    if (what == "progress")
      for (int i = 1; i <= arguments.at("n"); ++i)
        context.progress({.message = "m", .progress = i, .total = {}});
    if (what == "big")
      return {std::string(arguments.at("n").get<std::size_t>(), 'x'), {}, {}};
    if (what == "pid") return {std::to_string(::getpid()), {}, {}};
    if (what == "count") return count(context);
    if (what == "about")
      return {
          context.judged.value_or("anywhere") + "|" + context.basis, {}, {}};
    return {context.workspace.string() + " " + context.call.value,
            {},
            R"({"attempt":)" + std::to_string(context.attempt) + "}"};
  }

 private:
  static tool_output wait(tool_context& context) {
    context.progress({.message = "waiting"});
    while (!context.stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return {"stopped", {}, {}};
  }

  /// Counts in the session's state, and says what it saw.
  static tool_output count(tool_context& context) {
    const auto n = context.state->get("n").value_or(0).get<int>();
    const bool had = context.state->has("big");
    if (!context.state->set("n", n + 1) || !context.state->set("big", nullptr))
      return {"refused", {}, {}};
    return {std::to_string(n) + (had ? " big" : ""), {}, {}};
  }

  /// A child, and one that has left its parent and ignores SIGTERM.
  static tool_output tree(const json& arguments, tool_context& context) {
    const std::string file = arguments.at("file");
    const auto script = "(setsid bash -c \"trap '' TERM; echo \\$\\$ >> " +
                        file +
                        "; sleep 100; sleep 100\" &); bash -c 'echo $$ >> " +
                        file + "; sleep 100' &";
    if (std::system(script.c_str()) != 0) return {"no shell", {}, {}};
    return wait(context);
  }

  const tool_spec spec_{.name = "wild",
                        .description = "w",
                        .parameters = R"({"type":"object"})",
                        .eff = effect::read_only};
};

const bool registered = [] {
  worker_tools() = [](const std::string& configuration,
                      const std::string& name) -> expected<tool_ptr> {
    if (name != "wild" || configuration == "bad")
      return unexpected{error{errc::invalid_config, "test", "no such tool"}};
    return std::make_shared<wild_tool>();
  };
  return true;
}();

struct isolation_fixture : tool_fixture {
  explicit isolation_fixture(
      isolation_options options = {.configuration = "good"})
      : tool{isolate(std::make_shared<wild_tool>(), std::move(options))} {}

  tool_output call(const std::string& what, json more = json::object()) {
    more["do"] = what;
    return run(*tool, more);
  }
  /// What the lost child is remembered by; "" if it was not lost.
  std::string lost_by(const std::string& what) {
    try {
      call(what);
    } catch (const std::exception& e) {
      return e.what();
    }
    return {};
  }
  std::string pid() { return call("pid").text; }

  std::shared_ptr<isolated_tool> tool;
};

bool lives(const std::string& pid) { return ::kill(std::stoi(pid), 0) == 0; }

}  // namespace

TEST_CASE("an isolated call gives what the tool gives") {
  isolation_fixture x;
  x.context.call = call_id{"call_1"};
  x.context.attempt = 3;
  const auto result = x.call("echo");
  CHECK(result.text == x.folder.path().string() + " call_1");
  CHECK(result.metadata == R"({"attempt":3})");
  CHECK_FALSE(result.err);
  const auto failed = x.call("fail");
  REQUIRE(failed.err);
  CHECK(*failed.err == error{errc::timeout, "wild", "too slow"});
  CHECK(failed.text == "out");
  CHECK(failed.metadata == R"({"a":1})");
  CHECK(x.tool->spec().guarded);
  CHECK(x.tool->title({}) == "W");
}

TEST_CASE("an isolated call knows where it was judged to act, and on what") {
  isolation_fixture x;
  CHECK(x.call("about").text == "anywhere|");
  x.context.judged = "docs/a";
  x.context.basis = "b1";
  CHECK(x.call("about").text == "docs/a|b1");
  x.context.judged = "";  // what it leads to is not known
  CHECK(x.call("about").text == "|b1");
}

TEST_CASE("calls run in one child that stays, not in this process") {
  isolation_fixture x;
  const auto pid = x.pid();
  CHECK(pid != std::to_string(::getpid()));
  CHECK(x.pid() == pid);
  CHECK(x.tool->children() == 1);
  x.tool.reset();
  CHECK_FALSE(lives(pid));
  CHECK(descendants().empty());
}

TEST_CASE("an isolated call sees and changes the session's state") {
  isolation_fixture x;
  state_values session{{"n", "41"},
                       {"big", "\"" + std::string(60'000, 'x') + "\""}};
  x.context.state = std::make_shared<call_state>(session);
  CHECK(x.call("count").text == "41 big");
  CHECK(x.context.state->changes() == state_values{{"big", ""}, {"n", "42"}});
  apply_state(session, x.context.state->changes());
  x.context.state = std::make_shared<call_state>(session);
  CHECK(x.call("count").text == "42");
  x.context.state = std::make_shared<call_state>();
  CHECK(x.call("count").text == "0");
}

TEST_CASE("big arguments and results go through") {
  isolation_fixture x;
  const json more{{"n", 5'000'000}, {"pad", std::string(3'000'000, 'y')}};
  CHECK(x.call("big", more).text == std::string(5'000'000, 'x'));
}

TEST_CASE("progress keeps its order; what does not fit is counted") {
  isolation_fixture x;
  x.call("progress", {{"n", 20'000}});
  const auto all = x.reports();
  REQUIRE_FALSE(all.empty());
  double last = 0;
  std::uint64_t sum = 0;
  for (const auto& report : all) {
    CHECK(*report.progress > last);
    last = *report.progress;
    sum += 1 + report.coalesced;
  }
  CHECK(sum <= 20'000);
}

TEST_CASE("every death of a child costs one worker and is named") {
  isolation_fixture x;
  const std::vector<std::pair<std::string, std::string>> deaths = {
      {"segfault", "its process was ended by SIGSEGV"},
      {"kill", "its process was ended by SIGKILL"},
      {"abort", "its process was ended by SIGABRT: it is broken\n"},
      {"exit", "its process ended with exit status 7"},
      {"close", "its process ended with exit status 0|it closed its channel"},
      {"garbage", "it sent garbage"},
      {"cut off", "it sent garbage"},
      {"no kind", "it sent garbage"},
      {"for a child", "it sent garbage"},
      {"too long", "its result is longer than 64 MiB"},
      {"other version",
       "it speaks version 5 of the work messages, this program speaks 4"},
      {"freeze", "its process was stopped (SIGSTOP)"},
      {"throw", "thrown"},
  };
  for (const auto& [what, why] : deaths) {
    CAPTURE(what);
    const auto before = x.pid();
    const auto told = x.lost_by(what);
    // Whichever of two is seen first.
    const auto second = why.find('|');
    CAPTURE(told);
    CHECK((told == why.substr(0, second) ||
           (second != std::string::npos && told == why.substr(second + 1))));
    CHECK_FALSE(lives(before));
    CHECK(x.pid() != before);
    CHECK(x.tool->children() == 1);
  }
}

TEST_CASE("a child that died while it was idle costs no call") {
  isolation_fixture x;
  const auto pid = x.pid();
  ::kill(std::stoi(pid), SIGKILL);
  REQUIRE(eventually([&] { return !lives(pid); }));
  const auto next = x.pid();
  CHECK(next != pid);
}

TEST_CASE("a stopped call is asked, then its child ends with all it started") {
  for (const std::string what : {"wait", "hang", "tree"}) {
    CAPTURE(what);
    isolation_fixture x;
    const auto file = (x.folder.path() / "pids").string();
    const auto pid = x.pid();
    std::thread stopper{[&] {
      eventually([&] { return what == "hang" || !x.reports().empty(); });
      if (what == "tree")
        eventually([&] {
          return slurp(file).find('\n') != std::string::npos &&
                 std::ranges::count(slurp(file), '\n') == 2;
        });
      x.stop.request_stop();
    }};
    const auto result = x.call(what, {{"file", file}});
    stopper.join();
    REQUIRE(result.err);
    CHECK(result.err->code == errc::cancelled);
    CHECK_FALSE(lives(pid));
    CHECK(descendants().empty());
  }
}

TEST_CASE("a frozen child is killed when its call is stopped") {
  isolation_fixture x;
  const auto pid = x.pid();
  ::kill(std::stoi(pid), SIGSTOP);
  x.stop.request_stop();
  const auto result = x.call("echo");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
  CHECK_FALSE(lives(pid));
}

TEST_CASE("a child is warm before the first call, and again after a loss") {
  isolation_fixture x;
  x.tool->warm_up({});
  REQUIRE(eventually([&] { return x.tool->children() == 1; }));
  CHECK_FALSE(x.lost_by("kill").empty());
  CHECK(eventually([&] { return x.tool->children() == 1; }));
}

TEST_CASE("children that nobody needs end, one stays") {
  isolation_fixture x{{.configuration = "good", .child_idle = 50ms}};
  x.tool->warm_up({});
  std::vector<std::thread> threads;
  std::atomic<int> waiting = 0;
  x.context.progress = [&](const tool_progress_report&) { ++waiting; };
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      auto context = x.context;
      x.tool->run({{"do", "progress"}, {"n", 20'000}}, context);
    });
  for (auto& thread : threads) thread.join();
  CHECK(eventually([&] { return x.tool->children() == 1; }));
  CHECK(eventually([&] { return descendants().size() == 2; }));
}

TEST_CASE("a child that cannot make the tool says so") {
  isolation_fixture x{{.configuration = "bad"}};
  const auto result = x.call("echo");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::invalid_config);
  CHECK(result.err->message == "no such tool");
}

TEST_CASE("a call's lock is held as long as its child lives") {
  isolation_fixture x;
  x.context.guard_lock = x.folder.path() / "call-1.lock";
  x.folder.write("worker-1-1.lock", "");
  x.tool->warm_up(x.folder.path());
  CHECK_FALSE(x.folder.has("worker-1-1.lock"));
  std::thread watcher{[&] {
    eventually([&] { return !x.reports().empty(); });
    CHECK_FALSE(
        wait_for_guard(x.context.guard_lock, std::chrono::steady_clock::now()));
    x.stop.request_stop();
  }};
  x.call("wait");
  watcher.join();
  CHECK_FALSE(x.folder.has("call-1.lock"));
}

TEST_CASE("calls go on while their children are killed at random") {
  const bool full = std::getenv("RIFFLE_TEST_FULL") != nullptr;
  const int least = full ? 1000 : 100;
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  isolation_fixture x;
  x.tool->warm_up({});
  std::atomic<int> ok = 0;
  std::atomic<int> killed = 0;
  std::jthread killer{[&](const std::stop_token& stop) {
    for (int last = -1, waited = 0; !stop.stop_requested(); ++waited) {
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 20'000});
      // Where children start slowly, some calls shall end well all the same.
      if (ok == last && waited < 50) continue;
      last = ok;
      waited = 0;
      const auto all = descendants();
      if (!all.empty() && ::kill(all[random() % all.size()], SIGKILL) == 0)
        ++killed;
    }
  }};
  int lost = 0;
  int calls = 0;
  // Some may be killed between two calls only: then for longer.
  for (; calls < least || (lost == 0 && calls < 100 * least); ++calls) try {
      const auto result = x.call("big", {{"n", 100}});
      if (result.text.size() == 100) ++ok;
    } catch (const std::exception&) {
      ++lost;
    }
  CHECK(ok + lost == calls);
  CHECK(ok > 0);
  CHECK(killed > 0);
  CHECK(lost > 0);
}
