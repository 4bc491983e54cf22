// SPDX-License-Identifier: MIT
// What serves all runs of a process may die: a worker pool is replaced, the
// death of the others is noticed, and no run hangs.
#include "tests/actors/faults.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::size_t most_often(const recording_tool& tool) {
  std::map<call_id, std::size_t> each;
  std::size_t most = 0;
  for (const auto& id : tool.acted) most = std::max(most, ++each[id]);
  return most;
}

/// Several calls for each worker, one that breaks, one that is cancelled.
void begin_busy_run(actor_fixture& x, fault_hook faults = {}) {
  x.settings.defaults.concurrency = 1;
  x.settings.defaults.attempts = 3;
  x.supervision.backoff_base = 1ms;
  x.begin();
  x.look->reports = 2;
  x.look->throw_times = 1;
  x.provider->answers = {
      model_calls(0, "look", {{"n", 0}}) + model_calls(1, "look", {{"n", 1}}) +
          model_calls(2, "look", {{"n", 2}}) + model_calls(3, "act") +
          model_calls(4, "redo") + model_stops("tool_calls"),
      model_calls(0, "look", {{"n", 3}}) + model_calls(1, "act") +
          model_stops("tool_calls"),
      model_ends};
  auto spec = x.make_spec();
  spec->faults = std::move(faults);
  x.start(spec);
}

/// True if the handler was touched. The run ends well before any call's limit
/// of waiting in a queue, and its log is whole.
bool survives(fault& f, const std::string& scenario) {
  actor_fixture x;
  x.process_faults = f.hook();
  if (scenario == "stops") x.settings.defaults.timeout = 2s;
  begin_busy_run(x);
  if (scenario == "stops") {
    x.run_blocking = false;  // the first call ignores its stop for a while
    for (int i = 0; i < 240; ++i) {
      x.settle();
      x.advance(50ms);
    }
    x.run_blocking = true;
  }
  if (scenario == "run restarts") {
    x.settle();
    x.scheduler().run();
  }
  x.run_out(2min);
  INFO(f.handler << " " << f.skip << " " << scenario);
  CHECK(x.reader->is_closed);
  CHECK_FALSE(x.reader->failure);
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  CHECK(most_often(*x.act) <= 1);
  return f.fired;
}

/// One call of a tool in a run of its own; its result.
json result_of(actor_fixture& x, const std::string& tool,
               const std::string& run) {
  x.provider->requests.clear();
  x.provider->answers = {model_calls(0, tool) + model_stops("tool_calls"),
                         model_ends};
  x.reader = std::make_shared<recording_subscriber>();
  x.start(x.make_spec(run));
  x.run_out(1min);
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  return events_of(x.reader->lines, "tool_result").at(0).at("data");
}

std::string code_of(const json& result) {
  return result.contains("error") ? result.at("error").at("code") : "ok";
}

}  // namespace

TEST_CASE("a store that died is an internal error, whoever says so first") {
  actor_fixture x;
  fault f{"session_store.open"};
  x.process_faults = f.hook();
  x.begin();
  x.start(x.make_spec());
  x.settle();
  REQUIRE(f.fired);
  REQUIRE(x.opened);
  REQUIRE(x.opened->failure);
  CHECK(x.opened->failure->code == errc::internal);
  CHECK(x.opened->failure->message.find("the session store failed") !=
        std::string::npos);
}

TEST_CASE("an exception in any handler of a pool or worker costs no run") {
  for (const std::string actor : {"tool_pool", "tool_worker"}) {
    const auto handlers = handlers_of(actor);
    CHECK(handlers.size() >= 5);
    for (const auto& handler : handlers) {
      if (handler == "tool_pool.abandon") continue;  // below
      if (handler == "tool_pool.close") continue;    // only of nodes' tools
      if (handler == "tool_worker.down") continue;   // needs two faults, below
      // A timer for reports that wait; these calls make few.
      if (handler == "tool_worker.tick") continue;
      bool touched = false;
      for (const std::string scenario : {"plain", "stops"})
        for (const int skip : {0, 1, 2, 3}) {
          fault f{handler, skip};
          touched = survives(f, scenario) || touched;
        }
      INFO(handler);
      CHECK(touched);
    }
  }
}

TEST_CASE("a pool and its worker that fail together cost no run") {
  const bool third = GENERATE(false, true);  // and the dispatcher that notices
  CAPTURE(third);
  actor_fixture x;
  fault pool{"tool_pool.stop"};
  fault worker{"tool_worker.down"};
  x.process_faults = [a = pool.hook(), b = worker.hook()](const auto& at) {
    a(at);
    b(at);
  };
  x.settings.defaults.timeout = 2s;
  fault dispatcher{third ? "dispatcher.orphan_due" : "none"};
  begin_busy_run(x, dispatcher.hook());
  x.run_blocking = false;
  for (int i = 0; i < 240; ++i) {
    x.settle();
    x.advance(50ms);
  }
  x.run_blocking = true;
  x.run_out(2min);
  CHECK(pool.fired);
  CHECK(worker.fired);
  CHECK(dispatcher.fired == third);
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
}

TEST_CASE("a run that restarts does not wait for a pool that fails") {
  actor_fixture x;
  fault pool{"tool_pool.abandon"};
  x.process_faults = pool.hook();
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_ends};
  fault run{"dispatcher.work_done"};
  auto spec = x.make_spec();
  spec->faults = run.hook();
  x.start(spec);
  x.run_out(1min);
  CHECK(pool.fired);
  CHECK(run.fired);
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
}

TEST_CASE("a pool that is killed comes back, and its calls settle by effect") {
  for (const std::string tool : {"look", "redo", "act"})
    for (const bool begun : {false, true}) {
      CAPTURE(tool, begun);
      actor_fixture x;
      x.settings.defaults.attempts = 2;
      x.supervision.backoff_base = 1ms;
      x.begin();
      x.begin_blocking = begun;
      x.run_blocking = false;
      auto& recorder = tool == "look"   ? *x.look
                       : tool == "redo" ? *x.redo
                                        : *x.act;
      recorder.also = [&](tools::tool_context& context) {
        if (context.stop.stop_requested() && context.attempt == 1)
          throw std::runtime_error{"stopped"};
      };
      x.provider->answers = {model_calls(0, tool) + model_stops("tool_calls"),
                             model_ends};
      const log_lines log{"error"};
      x.start(x.make_spec());
      x.settle();
      kill_pool(x, tool);
      x.settle();
      x.run_blocking = true;
      x.run_out(1min);
      REQUIRE(x.reader->is_closed);
      check_log(x.reader->lines);
      const auto result =
          events_of(x.reader->lines, "tool_result").at(0).at("data");
      CHECK(result.at("outcome") == (tool == "act" ? "interrupted" : "ok"));
      CHECK(recorder.acted.size() ==
            (tool == "act" ? 0u : 1u) + (begun ? 1u : 0u));
      CHECK(log.with("the worker pool of `" + tool + "` failed").size() == 1);
      CHECK(result_of(x, tool, "run_2").at("outcome") == "ok");
    }
}

TEST_CASE("what a node's pool had when it died is lost, and nothing else") {
  actor_fixture x;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_ends};
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 1);
  // As if its tool were a node's: the gate has made another one.
  const std::string failure = GENERATE("it broke", "");
  const bool was_its = GENERATE(true, false);
  const auto pool = x.pools.at("look");
  const auto died = (was_its ? pool : x.pools.at("act")).address();
  caf::anon_send(x.registry, pool_of_node{"look", pool, failure, died});
  x.settle();
  x.advance(20s);
  x.run_blocking = true;
  x.run_out(1min);
  const auto result =
      events_of(x.reader->lines, "tool_result").at(0).at("data");
  // Its worker may go on: nothing begins beside that.
  const bool lost = !failure.empty() && was_its;
  CHECK(result.at("outcome") == (lost ? "interrupted" : "ok"));
}

TEST_CASE("a pool that fails again and again is out of service for a while") {
  actor_fixture x;
  x.supervision.intensity = 2;
  x.supervision.cool_down = 30s;
  x.begin();
  for (int i = 0; i < 2; ++i) {
    kill_pool(x, "look");
    x.settle();
    CHECK(code_of(result_of(x, "look", "run_" + std::to_string(i))) == "ok");
  }
  kill_pool(x, "look");
  x.settle();
  CHECK(code_of(result_of(x, "look", "run_3")) == "tool_unavailable");
  CHECK(code_of(result_of(x, "act", "run_4")) == "ok");
  CHECK(x.service.back() == "look is out");
  x.advance(31s);
  x.settle();
  CHECK(code_of(result_of(x, "look", "run_5")) == "ok");
  CHECK(x.service.back() == "look is back");
}

TEST_CASE(
    "an exception in any handler of store and inbox is their noticed end") {
  std::set<std::string> handlers = handlers_of("session_store");
  handlers.merge(handlers_of("command_inbox"));
  CHECK(handlers.size() == 14);
  handlers.erase("session_store.disown");  // nothing is let go of here
  handlers.erase("command_inbox.made");    // nothing is proposed for later
  for (const auto& handler : handlers) {
    CAPTURE(handler);
    actor_fixture x;
    fault f{handler};
    x.process_faults = f.hook();
    x.settings.defaults.approval = "ask";
    x.approval = approve::ask;
    x.expire_after = 20s;
    x.begin();
    bool store_died = false;
    bool inbox_died = false;
    const auto notice = [](const auto& actor, bool& died) {
      caf::actor_cast<caf::abstract_actor*>(actor)->attach_functor(
          [&died](const caf::error& why) {
            died = why != caf::exit_reason::user_shutdown;
          });
    };
    notice(x.store, store_died);
    notice(x.inbox, inbox_died);
    x.provider->answers = {model_calls(0, "act") + model_stops("tool_calls"),
                           model_calls(0, "act") + model_stops("tool_calls"),
                           model_ends};
    if (handler == "command_inbox.queued")
      caf::anon_send(x.inbox, queued_cause{});
    auto spec = x.make_spec();
    fault again{"dispatcher.turn_over"};  // adopts the run
    spec->faults = again.hook();
    x.start(spec);
    for (int i = 0; i < 100 && x.undecided().empty(); ++i) {
      x.settle();
      x.advance(100ms);
    }
    // A decision of Riffle's own, one that another process made, a person's.
    const bool expires = handler == "command_inbox.settle";
    const bool elsewhere = handler == "command_inbox.tick";
    if (!expires)
      for (const auto& p : x.undecided())
        x.decide(p.what.id, events::proposal_outcome::approved, {},
                 always_scope::none, !elsewhere);
    x.run_out(1min);
    CHECK(f.fired);
    CHECK(store_died == handler.starts_with("session_store"));
    CHECK(inbox_died == handler.starts_with("command_inbox"));
  }
}
