// SPDX-License-Identifier: MIT
// Runs whose spec is completed once they are on record: whoever started one is
// answered before, and its end does not wait for it either.
#include <algorithm>
#include <sstream>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// A process in which specs are completed when the test says so.
struct late_world {
  explicit late_world(std::shared_ptr<storage::journal> journal = {})
      : x{std::move(journal)} {
    x.change_front = [this](registry_setup& front) { front.making = making; };
    x.begin();
    x.provider->answers = {model_ends};
  }

  /// Without its tools, which come with `whole`.
  std::shared_ptr<run_spec> make_spec() {
    auto whole = x.make_spec();
    auto out = x.make_spec();
    out->agent.tools.clear();
    out->agent.system_prompt = "half";
    whole->agent.system_prompt = "whole";
    out->waited = waits_for;
    whole->waited = has_waited;
    out->complete = [this, whole](const std::stop_token& stop)
        -> expected<std::shared_ptr<const run_spec>> {
      stopped = stop.stop_requested();
      if (failure) return unexpected{*failure};
      return std::shared_ptr<const run_spec>{whole};
    };
    return out;
  }

  storage::run_state state() const { return x.journal->load_run(x.run)->state; }

  std::shared_ptr<manual_executor> making = std::make_shared<manual_executor>();
  std::optional<error> failure;
  bool stopped = false;
  std::string waits_for;   ///< what a spec says that waits …
  std::string has_waited;  ///< … and one that is whole
  actor_fixture x;
};

}  // namespace

TEST_CASE("who starts a run does not wait for what its tools need") {
  late_world w;
  auto& x = w.x;
  x.start(w.make_spec());
  x.settle();
  REQUIRE(x.opened);
  CHECK_FALSE(x.opened->failure);
  CHECK(w.state() == storage::run_state::active);
  CHECK(x.provider->requests.empty());
  CHECK(x.reader->lines.empty());
  REQUIRE(w.making->run_one());
  CHECK_FALSE(w.stopped);
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  REQUIRE(x.provider->requests.size() == 1);
  CHECK(x.provider->requests[0].find("whole") != std::string::npos);
  check_log(x.reader->lines);
}

namespace {

std::string stored_lines(storage::journal& journal, const run_id& run) {
  const auto page = journal.read_events(run, 0, 1u << 20);
  REQUIRE(page);
  std::string out;
  for (const auto& block : page->blocks) out += *block.lines;
  return out;
}

const std::string awaited = "waiting for a node with `look`";

/// The types of events, and of a status its text, in their order.
std::vector<std::string> told(const std::string& lines) {
  std::vector<std::string> out;
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);) {
    const auto x = nlohmann::json::parse(line);
    const auto type = x.at("event_type").get<std::string>();
    out.push_back(type == "status" ? x.at("data").at("text").get<std::string>()
                                   : type);
  }
  return out;
}

}  // namespace

TEST_CASE("a run that waits for a node is told so while it waits") {
  late_world w;
  auto& x = w.x;
  w.waits_for = awaited;
  w.has_waited = "waited 1s for a node with `look`";
  x.start(w.make_spec());
  x.settle();
  REQUIRE(x.opened);
  CHECK_FALSE(x.opened->failure);
  CHECK(told(x.reader->lines) == std::vector<std::string>{"run_started"});
  // Whoever comes later reads what is on record, and goes on from there.
  const auto late = std::make_shared<recording_subscriber>();
  caf::anon_send(x.registry, attach_subscriber{x.run, late});
  x.settle();
  CHECK(late->must_pull);
  late->last = 1;
  caf::anon_send(x.registry, attach_subscriber{x.run, late});
  x.advance(1s);
  x.settle();
  CHECK(told(x.reader->lines) ==
        std::vector<std::string>{"run_started", awaited});
  CHECK(told(late->lines) == std::vector<std::string>{awaited});
  CHECK(x.provider->requests.empty());
  REQUIRE(w.making->run_one());
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  const auto all = told(x.reader->lines);
  REQUIRE(all.size() > 4);
  CHECK(std::vector(all.begin(), all.begin() + 4) ==
        std::vector<std::string>{"run_started", awaited, w.has_waited,
                                 "step_start"});
  CHECK(std::ranges::count(all, "run_started") == 1);
  CHECK(x.reader->lines.ends_with(late->lines));
  check_log(x.reader->lines);
}

TEST_CASE("who is behind a run that waits is told of its end all the same") {
  late_world w;
  auto& x = w.x;
  w.waits_for = awaited;
  x.start(w.make_spec());
  x.settle();
  // It never pulls what it is told that it has missed.
  const auto idle = std::make_shared<recording_subscriber>();
  caf::anon_send(x.registry, attach_subscriber{x.run, idle});
  x.settle();
  CHECK(idle->must_pull);
  x.advance(1s);
  x.settle();
  REQUIRE(w.making->run_one());
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  CHECK(idle->is_closed);
}

TEST_CASE("a run that waited for its whole time limit does nothing") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("The end.") + model_stops("stop")};
  auto spec = x.make_spec("run_1");
  spec->time_limit = spec->spent = 1s;
  x.start(spec);
  x.run_out();
  CHECK(x.provider->requests.empty());
  const auto end = events_of(x.reader->lines, "run_finished");
  REQUIRE(end.size() == 1);
  CHECK(end[0].at("data").at("status") == "failed");
  CHECK(end[0].at("data").at("duration_ms") == 1000);
  check_log(x.reader->lines);
}

TEST_CASE("a short wait for a node is not told, and nothing begins before it") {
  late_world w{std::make_shared<test_journal>()};
  auto& x = w.x;
  w.waits_for = awaited;
  x.release_acks = false;  // what says that it began is not on record yet
  x.start(w.make_spec());
  x.settle();
  REQUIRE(w.making->run_one());
  x.settle();
  CHECK(x.provider->requests.empty());
  CHECK(x.reader->lines.empty());
  x.release_acks = true;
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  CHECK(std::ranges::count(told(x.reader->lines), awaited) == 0);
  check_log(x.reader->lines);
}

TEST_CASE("a run that waits for a node is cancelled, its log is whole") {
  late_world w;
  auto& x = w.x;
  w.waits_for = awaited;
  x.start(w.make_spec());
  x.settle();
  x.advance(1s);
  x.cancel("enough");
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::cancelled);
  const auto all = told(x.reader->lines);
  CHECK(std::ranges::count(all, "run_started") == 1);
  CHECK(std::ranges::count(all, awaited) == 1);
  CHECK(x.provider->requests.empty());
  check_log(x.reader->lines);
}

TEST_CASE("a run that waits for its spec is cancelled at once") {
  late_world w;
  auto& x = w.x;
  x.start(w.make_spec());
  x.settle();
  x.cancel("enough");
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::cancelled);
  CHECK(x.provider->requests.empty());
  check_log(x.reader->lines);
  // Who still waits for it is told to stop, and what comes of that is dropped.
  REQUIRE(w.making->run_one());
  CHECK(w.stopped);
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::cancelled);
}

TEST_CASE("a run whose spec cannot be completed fails by that") {
  late_world w;
  auto& x = w.x;
  w.failure = error{errc::invalid_config, "test", "no such server"};
  x.start(w.make_spec());
  x.settle();
  REQUIRE(w.making->run_one());
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::failed);
  CHECK(x.reader->lines.find("no such server") != std::string::npos);
  CHECK(x.provider->requests.empty());
  check_log(x.reader->lines);
}

TEST_CASE("calls and readers of a run that waits for its spec do no harm") {
  late_world w;
  auto& x = w.x;
  x.start(w.make_spec());
  x.settle();
  const auto second = std::make_shared<recording_subscriber>();
  caf::anon_send(x.registry, attach_subscriber{x.run, second});
  caf::anon_send(x.registry, cancel_call{x.run, call_id{"call_1"}});
  x.settle();
  REQUIRE(w.making->run_one());
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  CHECK(second->lines == x.reader->lines);
}

TEST_CASE("a run that waited when its process ended is taken up by the next") {
  const auto journal = std::make_shared<test_journal>();
  {
    late_world before{journal};
    before.x.start(before.make_spec());
    before.x.settle();
    caf::anon_send_exit(before.x.registry, caf::exit_reason::user_shutdown);
    before.x.settle();
    REQUIRE(before.making->run_one());
    CHECK(before.stopped);
    CHECK(before.state() == storage::run_state::active);
  }
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_ends};
  x.resume(x.make_spec());
  x.run_out(10s);
  CHECK(x.journal->load_run(x.run)->state == storage::run_state::completed);
  check_log(x.reader->lines);
}

TEST_CASE("a run that was told to wait is begun by the next process") {
  const auto journal = std::make_shared<test_journal>();
  {
    late_world before{journal};
    before.waits_for = awaited;
    before.x.start(before.make_spec());
    before.x.settle();
    before.x.advance(1s);
    before.x.settle();
    caf::anon_send_exit(before.x.registry, caf::exit_reason::user_shutdown);
    before.x.settle();
    REQUIRE(before.making->run_one());
  }
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_ends};
  x.resume(x.make_spec());
  x.run_out(10s);
  CHECK(x.journal->load_run(x.run)->state == storage::run_state::completed);
  REQUIRE(x.provider->requests.size() == 1);
  CHECK(x.provider->requests[0].find(x.make_spec()->task) != std::string::npos);
  const auto lines = stored_lines(*journal, x.run);
  CHECK(std::ranges::count(told(lines), "run_started") == 1);
  CHECK(std::ranges::count(told(lines), awaited) == 1);
  check_log(lines);
}

namespace {

/// Its process ends while a call of it acts.
void leave_run(const std::shared_ptr<test_journal>& journal) {
  actor_fixture x{journal};
  x.run_blocking = false;
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls")};
  x.start(x.make_spec());
  x.settle();
  caf::anon_send_exit(x.registry, caf::exit_reason::user_shutdown);
  x.settle();
  REQUIRE(journal->load_run(x.run)->state == storage::run_state::active);
}

}  // namespace

TEST_CASE("who takes up a run does not wait for what its tools need") {
  const auto journal = std::make_shared<test_journal>();
  leave_run(journal);
  late_world w{journal};
  auto& x = w.x;
  x.resume(w.make_spec());
  x.settle();
  REQUIRE(x.opened);
  CHECK_FALSE(x.opened->failure);
  CHECK(x.provider->requests.empty());
  // It is this process's: nobody else here takes it up.
  x.resume(w.make_spec());
  x.settle();
  REQUIRE(x.opened);
  REQUIRE(x.opened->failure);
  CHECK(x.opened->failure->code == errc::session_busy);
  CHECK(w.making->jobs.size() == 1);
  REQUIRE(w.making->run_one());
  CHECK_FALSE(w.stopped);
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
  REQUIRE(x.provider->requests.size() == 1);
  CHECK(x.provider->requests[0].find("whole") != std::string::npos);
  CHECK(x.look->acted.size() == 1);  // again: it only looks
  check_log(stored_lines(*journal, x.run));
}

TEST_CASE("a run that is taken up is cancelled before its spec is there") {
  const auto journal = std::make_shared<test_journal>();
  leave_run(journal);
  late_world w{journal};
  auto& x = w.x;
  x.resume(w.make_spec());
  x.settle();
  REQUIRE(w.making->jobs.size() == 1);
  x.cancel("enough");
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::cancelled);
  CHECK(x.provider->requests.empty());
  CHECK(x.look->acted.empty());
  REQUIRE(w.making->run_one());
  CHECK(w.stopped);
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::cancelled);
}

TEST_CASE("a run that is taken up and not waited for stays as it was") {
  const auto journal = std::make_shared<test_journal>();
  leave_run(journal);
  late_world w{journal};
  auto& x = w.x;
  const auto before = stored_lines(*journal, x.run);
  x.resume(w.make_spec());
  x.settle();
  caf::anon_send(x.registry, withdraw_run{x.run, x.reader});
  x.settle();
  REQUIRE(w.making->run_one());
  CHECK(w.stopped);
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::active);
  CHECK(stored_lines(*journal, x.run) == before);
  CHECK(x.provider->requests.empty());
  // It is nobody's, so it can be taken up again.
  x.resume(x.make_spec());
  x.run_out(10s);
  CHECK(w.state() == storage::run_state::completed);
}
