// SPDX-License-Identifier: MIT
// Supervision of tool workers: restarts, quarantine, abandoned threads.
#include <cerrno>
#include <system_error>

#include "actors/tools/tool_pool.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string one_call(const std::string& tool) {
  return model_calls(0, tool) + model_stops("tool_calls");
}

struct pool_fixture : actor_fixture {
  pool_fixture() {
    settings.defaults.attempts = 1;
    supervision.intensity = 2;
    supervision.cool_down = 30s;
  }

  /// Plays a run of one step for each tool; the results of its calls.
  std::vector<json> results_of(const std::vector<std::string>& calls) {
    provider->answers.clear();
    for (const auto& tool : calls) provider->answers.push_back(one_call(tool));
    provider->answers.push_back(model_ends);
    begin_run();
    run_out();
    check_log(reader->lines);
    std::vector<json> found;
    for (const auto& x : events_of(reader->lines, "tool_result"))
      found.push_back(x.at("data"));
    return found;
  }

  /// Starts one more run, with a reader of its own.
  void begin_run() {
    reader = std::make_shared<recording_subscriber>();
    provider->requests.clear();
    auto spec = make_spec("run_" + std::to_string(++runs_));
    spec->session = session_id{"ses_" + std::to_string(runs_)};
    start(spec);
    settle();
  }

 private:
  int runs_ = 0;
};

tool_pool_state& state_of(const tool_pool_actor& pool) {
  auto* actor = caf::actor_cast<caf::abstract_actor*>(pool);
  using pointer = tool_pool_actor::stateful_pointer<tool_pool_state>;
  return dynamic_cast<pointer>(actor)->state;
}

std::string code_of(const json& result) {
  return result.contains("error") ? result.at("error").at("code") : "ok";
}

}  // namespace

TEST_CASE(
    "a tool that keeps crashing is taken out of service and tried later") {
  pool_fixture x;
  x.begin();
  x.look->throw_times = 4;
  const auto results =
      x.results_of({"look", "look", "look", "look", "act", "look"});
  REQUIRE(results.size() == 6);
  // Two restarts, the third crash is one too many.
  for (int i = 0; i < 3; ++i) {
    CHECK(results[i].at("outcome") == "interrupted");
    CHECK(results[i].at("attempts") == 1);
  }
  CHECK(code_of(results[3]) == "tool_unavailable");
  CHECK(code_of(results[5]) == "tool_unavailable");
  CHECK(code_of(results[4]) == "ok");  // others notice nothing
  CHECK(x.look->acted.size() == 3);
  const auto told = x.provider->requests.at(4);
  CHECK(told.find("out of service") != std::string::npos);
  using told_service = std::vector<std::string>;
  CHECK(x.service == told_service{"look is out"});

  x.advance(30s);  // the trial crashes: out again, at once
  auto trial = x.results_of({"look", "look"});
  CHECK(trial.at(0).at("outcome") == "interrupted");
  CHECK(code_of(trial.at(1)) == "tool_unavailable");
  CHECK(x.service == told_service{"look is out"});  // it never was back

  x.advance(30s);
  trial = x.results_of({"look", "look"});
  CHECK(code_of(trial.at(0)) == "ok");
  CHECK(code_of(trial.at(1)) == "ok");
  CHECK(x.service == told_service{"look is out", "look is back"});
}

// One for one, transient; after the cells of OTP's supervisor_SUITE. (An
// actor that CAF sends a normal exit goes on, so there is no such cell.)
TEST_CASE(
    "workers that end in every way are replaced as OTP's transient says") {
  struct cell {
    caf::error reason;
    bool crash;
  };
  const std::vector<cell> cells{
      {caf::make_error(caf::exit_reason::user_shutdown), false},
      {caf::make_error(caf::exit_reason::kill), true},
      {caf::make_error(caf::sec::runtime_error, "it broke"), true}};
  for (const auto& c : cells) {
    CAPTURE(caf::to_string(c.reason));
    pool_fixture x;
    x.supervision.intensity = 1;
    x.begin();
    REQUIRE(code_of(x.results_of({"look"}).at(0)) == "ok");
    REQUIRE(code_of(x.results_of({"act"}).at(0)) == "ok");
    auto& look = state_of(x.pools.at("look"));
    const auto other = state_of(x.pools.at("act")).workers.front().actor;
    for (int i = 0; i < 3; ++i) {
      // An idle worker ends; the others notice nothing.
      if (look.workers.empty()) break;
      const auto worker =
          caf::actor_cast<caf::actor>(look.workers.front().actor);
      caf::anon_send(worker, caf::exit_msg{worker.address(), c.reason});
      x.settle();
      CHECK(look.workers.empty());
      CHECK(look.resting == (c.crash && i < 1 ? 1u : 0u));
      x.advance(1s);
      x.settle();
      CHECK(look.resting == 0);
      const auto result = x.results_of({"look"}).at(0);
      CHECK(code_of(result) == (c.crash && i >= 1 ? "tool_unavailable" : "ok"));
    }
    CHECK(x.service.empty() != c.crash);
    CHECK(state_of(x.pools.at("act")).workers.front().actor == other);
  }
}

TEST_CASE("a pool that ends takes its workers along") {
  pool_fixture x;
  x.begin();
  x.results_of({"look"});
  const auto worker = caf::actor_cast<caf::actor>(
      state_of(x.pools.at("look")).workers.front().actor);
  caf::scoped_actor watcher{*x.system};
  watcher->monitor(worker);
  caf::anon_send_exit(x.pools.at("look"), caf::exit_reason::user_shutdown);
  x.settle();
  bool ended = false;
  watcher->receive([&](const caf::down_msg&) { ended = true; },
                   caf::after(0s) >> [] {});
  CHECK(ended);
}

TEST_CASE("calls that wait while the trial fails settle at once") {
  pool_fixture x;
  x.supervision.intensity = 0;
  x.begin();
  x.look->throw_times = 2;
  x.results_of({"look"});
  x.advance(30s);
  x.provider->answers = {
      model_calls(0, "look", {{"n", 1}}) + model_calls(1, "look", {{"n", 2}}) +
          model_calls(2, "look", {{"n", 3}}) + model_stops("tool_calls"),
      model_ends};
  x.run_blocking = false;
  x.begin_run();
  x.settle();
  CHECK(x.blocking->jobs.size() == 1);  // one is on trial, two wait for it
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 3);
  CHECK(x.look->acted.size() == 2);
  int refused = 0;
  for (const auto& r : results)
    refused += code_of(r.at("data")) == "tool_unavailable" ? 1 : 0;
  CHECK(refused == 2);
}

TEST_CASE("a read that crashed is repeated until its attempts are used up") {
  pool_fixture x;
  x.settings.defaults.attempts = 3;
  x.supervision.intensity = 9;
  x.begin();
  x.look->throw_times = 2;
  const auto results = x.results_of({"look"});
  REQUIRE(results.size() == 1);
  CHECK(code_of(results[0]) == "ok");
  CHECK(results[0].at("attempts") == 3);
  const auto retries = events_of(x.reader->lines, "retry");
  REQUIRE(retries.size() == 2);
  CHECK(retries[0].at("data").at("what") == "tool");
  CHECK(retries[1].at("data").at("attempt") == 2);
}

TEST_CASE("threads that ignore their stop are counted, then the tool is out") {
  pool_fixture x;
  x.settings.defaults.concurrency = 1;
  x.settings.defaults.abandoned_limit = 1;
  x.begin();
  x.run_blocking = false;  // no thread ever ends
  for (int run = 1; run <= 2; ++run) {
    x.provider->answers = {one_call("look"), model_ends};
    x.begin_run();
    CHECK(x.blocking->jobs.size() == static_cast<std::size_t>(run));
    x.cancel();
    x.run_out();
    check_log(x.reader->lines);
    const auto results = events_of(x.reader->lines, "tool_result");
    REQUIRE(results.size() == 1);
    CHECK(results[0].at("data").at("outcome") == "cancelled");
    x.advance(10s);
    x.settle();
  }
  auto refused = x.results_of({"look"});
  CHECK(code_of(refused.at(0)) == "tool_unavailable");

  x.run_blocking = true;  // they end at last
  x.settle();
  x.advance(30s);
  CHECK(code_of(x.results_of({"look"}).at(0)) == "ok");
}

TEST_CASE("a call that is stopped before it has a thread never acts") {
  pool_fixture x;
  x.begin();
  x.run_blocking = x.begin_blocking = false;
  x.provider->answers = {one_call("look"), model_ends};
  x.begin_run();
  REQUIRE(x.blocking->jobs.size() == 1);
  x.cancel();
  x.settle();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  CHECK(x.look->acted.empty());
}

TEST_CASE("a call that no thread can be had for failed before it began") {
  struct no_threads final : executor {
    using executor::submit;
    void submit(job, queue_ticket, job) override {
      throw std::system_error{EAGAIN, std::generic_category()};
    }
  };
  pool_fixture x;
  x.change_pools = [&x](auto& pools) {
    worker_setup setup;
    setup.blocking = std::make_shared<no_threads>();
    auto spawn = make_pool_spawner(
        *x.system,
        [all = x.tools](const std::string& tool) { return *all->find(tool); },
        x.settings, x.supervision, setup, {});
    pools["act"] = spawn("act");
  };
  x.begin();
  const auto ends = x.results_of({"act", "act", "act", "act"});
  REQUIRE(ends.size() == 4);
  for (const auto& end : ends) {
    INFO(end.dump());
    CHECK(end.at("outcome") == "failed");
    CHECK(code_of(end) == "tool_execution_error");
    CHECK(end.dump().find("did not begin") != std::string::npos);
  }
  CHECK(x.act->acted.empty());
  CHECK(x.service.empty());  // nothing is wrong with the tool
}

TEST_CASE("one run cannot keep a tool's workers from another") {
  pool_fixture x;
  x.settings.defaults.concurrency = 1;
  x.begin();
  x.run_blocking = false;
  std::string many;
  for (int i = 0; i < 6; ++i) many += model_calls(i, "look", {{"n", i}});
  x.provider->answers = {many + model_stops("tool_calls"), model_ends};
  x.begin_run();
  const auto greedy = x.reader;
  x.provider->answers = {one_call("look"), model_ends};
  x.begin_run();
  // The one place is the first run's; the next is the second's.
  REQUIRE(x.blocking->run_one());
  x.scheduler().run();
  REQUIRE(x.blocking->run_one());
  x.scheduler().run();
  CHECK(events_of(x.reader->lines, "tool_result").size() == 1);
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
}

TEST_CASE("a call that waits for a worker is told to, and when it has one") {
  pool_fixture x;
  x.settings.defaults.concurrency = 1;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {model_calls(0, "look", {{"n", 0}}) +
                             model_calls(1, "look", {{"n", 1}}) +
                             model_stops("tool_calls"),
                         model_ends};
  x.begin_run();
  x.advance(900ms);
  CHECK(events_of(x.reader->lines, "tool_progress").empty());
  x.advance(2100ms);
  REQUIRE(x.blocking->run_one());
  x.scheduler().run();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  const auto calls = events_of(x.reader->lines, "tool_call");
  const auto told = events_of(x.reader->lines, "tool_progress");
  REQUIRE((calls.size() == 2 && told.size() == 2));
  for (const auto& line : told)
    CHECK(line.at("data").at("id") == calls[1].at("data").at("id"));
  CHECK(told[0].at("data").at("message") == "waits for a free worker");
  CHECK(told[1].at("data").at("message") == "waited 3.0s for a free worker");
}

// The worker's death and its call's end, in both orders: one settlement.
TEST_CASE("a worker that dies before or after its call ended settles it once") {
  const bool read_only = GENERATE(true, false);
  const bool done_first = GENERATE(true, false);
  CAPTURE(read_only, done_first);
  pool_fixture x;
  x.settings.defaults.attempts = 2;
  x.begin();
  x.run_blocking = false;
  const std::string tool = read_only ? "look" : "act";
  x.provider->answers = {one_call(tool), model_ends};
  x.begin_run();
  REQUIRE(x.blocking->jobs.size() == 1);
  auto& pool = state_of(x.pools.at(tool));
  const auto worker = caf::actor_cast<caf::actor>(pool.workers.front().actor);
  const auto die = [&] {
    caf::anon_send(worker,
                   caf::exit_msg{worker.address(), caf::exit_reason::kill});
  };
  // Both are sent before any actor runs.
  if (!done_first) die();
  REQUIRE(x.blocking->run_one());
  if (done_first) die();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 1);
  const auto& data = results[0].at("data");
  const bool repeated = !done_first && read_only;
  CHECK(data.at("outcome") == (done_first || read_only ? "ok" : "interrupted"));
  CHECK(data.at("attempts") == (repeated ? 2 : 1));
  CHECK(events_of(x.reader->lines, "retry").size() == (repeated ? 1u : 0u));
  auto& did = read_only ? x.look : x.act;
  CHECK(did->acted.size() == (repeated ? 2u : 1u));
}
