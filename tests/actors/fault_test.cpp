// SPDX-License-Identifier: MIT
// Supervision of runs: an exception in any handler of any run actor costs
// nothing but a recovery.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// What serves all runs: supervision_test.cpp; volleys: volley_test.cpp,
/// plans: plan_test.cpp.
bool of_the_process(const std::string& handler) {
  return handler.starts_with("tool_pool.") ||
         handler.starts_with("tool_worker.") ||
         handler.starts_with("command_inbox.") ||
         handler.starts_with("session_store.") ||
         handler.starts_with("volley_scheduler.") ||
         handler.starts_with("plan_executor.") ||
         handler.starts_with("call_host.") ||
         handler.starts_with("cluster_gate.") ||
         handler.starts_with("remote_worker.");
}

/// Names of all handlers of run actors, read from the shells themselves.
std::set<std::string> handlers_in_sources() {
  std::set<std::string> names;
  const std::regex call{
      R"re(handle(?:_request)?<[^()]*>\(\s*self,\s*"([a-z_]+\.[a-z_]+)")re"};
  const std::filesystem::path folder{RIFFLE_SOURCE_DIR "/actors"};
  for (const auto& file :
       std::filesystem::recursive_directory_iterator{folder}) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream in{file.path()};
    std::stringstream text;
    text << in.rdbuf();
    const auto source = text.str();
    for (std::sregex_iterator i{source.begin(), source.end(), call}, end;
         i != end; ++i)
      if (const std::string name = (*i)[1]; !of_the_process(name))
        names.insert(name);
  }
  return names;
}

/// A run that touches most handlers: parallel reads, a call that spoils, a
/// break, a lost worker, mutating calls, a control tool, progress.
void tell_everything(actor_fixture& x) {
  x.provider->answers = {
      model_says("Well. ") + model_calls(0, "look") +
          model_calls(1, "look", {{"n", 2}}) + scripted_model::cut,
      model_says("Once more. ") + model_calls(0, "look", {{"n", 3}}) +
          model_calls(1, "act") + model_calls(2, "redo") +
          model_calls(3, "seek_approval", {{"summary", "more"}}) +
          model_stops("tool_calls"),
      model_says("The end.") + model_stops("stop"),
  };
  x.look->reports = 3;
}

std::size_t times(const recording_tool& tool) {
  std::map<call_id, std::size_t> each;
  std::size_t most = 0;
  for (const auto& id : tool.acted) most = std::max(most, ++each[id]);
  return most;
}

struct fault {
  std::string handler;
  int skip = 0;  ///< so many times it does not strike
  bool fired = false;
};

fault_hook strike(fault& f) {
  return [&f](const std::string& handler) {
    if (handler != f.handler || f.fired) return;
    if (f.skip-- > 0) return;
    f.fired = true;
    throw std::runtime_error{"a fault in " + handler};
  };
}

/// A name that begins with "asked" has a person decide about calls.
using scenario_list =
    std::map<std::string, std::function<void(actor_fixture&)>>;

/// Runs the scenario with the fault; false if the handler was not touched.
bool survives(fault& f, const scenario_list::value_type& named) {
  const auto& [name, scenario] = named;
  actor_fixture x{std::make_shared<test_journal>()};
  x.settings.defaults.approval = "ask";
  x.previews = true;
  x.propose = name.starts_with("asked later");
  x.expire_after = std::chrono::seconds{30};
  x.begin();
  tell_everything(x);
  auto spec = x.make_spec();
  spec->approval = name.starts_with("asked") ? approve::ask : approve::all;
  spec->faults = strike(f);
  x.start(spec);
  scenario(x);
  x.run_out();
  INFO("a fault in " << f.handler);
  CHECK(x.opened);
  CHECK(x.reader->is_closed);
  CHECK_FALSE(x.reader->failure);
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  CHECK(times(*x.act) <= 1);
  return f.fired;
}

}  // namespace

TEST_CASE("an exception in any handler costs a recovery and nothing else") {
  const scenario_list scenarios{
      {"asked and approved",
       [](actor_fixture& x) {
         for (int i = 0; i < 200 && !x.reader->is_closed; ++i) {
           x.settle();
           x.advance(std::chrono::milliseconds{100});
           for (const auto& p : x.undecided())
             x.decide(p.what.id, events::proposal_outcome::approved);
         }
       }},
      {"asked and left alone", [](actor_fixture&) {}},
      {"asked, cancelled while it waits",
       [](actor_fixture& x) {
         for (int i = 0; i < 50 && x.undecided().empty(); ++i) {
           x.settle();
           x.advance(std::chrono::milliseconds{100});
         }
         x.cancel();
       }},
      {"asked, with a preview that hangs",
       [](actor_fixture& x) {
         x.run_blocking = false;
         for (int i = 0; i < 30; ++i) {
           x.settle();
           x.advance(std::chrono::milliseconds{100});
         }
         x.run_blocking = true;
       }},
      {"asked later",
       [](actor_fixture& x) {
         for (int i = 0; i < 100 && x.undecided().empty(); ++i) {
           x.settle();
           x.advance(std::chrono::milliseconds{100});
         }
       }},
      {"to the end", [](actor_fixture&) {}},
      {"cancelled while it waits for the model",
       [](actor_fixture& x) {
         x.settle();
         x.cancel();
       }},
      {"cancelled while the model speaks",
       [](actor_fixture& x) {
         x.provider->answers = {model_says(std::string(50'000, 'x')) +
                                scripted_model::hold};
         x.settle();
         x.cancel();
       }},
      {"a call is cancelled while the model speaks",
       [](actor_fixture& x) {
         x.provider->answers = {model_calls(0, "look") + scripted_model::hold};
         x.settle();
         caf::anon_send(x.registry, cancel_call{x.run, call_id{"call_x"}});
         caf::anon_send(x.registry, tell_run{x.run, "more"});
         x.settle();
         x.cancel();
       }},
      {"a call that spoils",
       [](actor_fixture& x) {
         x.provider->answers = {
             model_calls(0, "look") +
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                 "\"index\":0,\"function\":{\"arguments\":\"more\"}}]}}]}\n\n" +
                 model_stops("tool_calls"),
             model_says("The end.") + model_stops("stop")};
       }},
      {"a tool that breaks", [](actor_fixture& x) { x.look->throw_times = 1; }},
      {"a pool that dies",
       [](actor_fixture& x) {
         x.run_blocking = false;
         x.settle();
         caf::anon_send_exit(x.pools.at("look"), caf::exit_reason::kill);
         x.settle();
         x.run_blocking = true;
       }},
      {"a node that joins and leaves",
       [](actor_fixture& x) {
         x.settle();
         caf::anon_send(x.registry,
                        pool_of_node{"look@alpha", x.pools.at("look")});
         caf::anon_send(x.registry, pool_of_node{"look@alpha", {}});
         x.settle();
       }},
      {"cancelled while a decision is on its way",
       [](actor_fixture& x) {
         x.provider->answers = {
             model_calls(0, "act") + model_stops("tool_calls"),
             model_says("The end.") + model_stops("stop")};
       }},
      {"a call whose place is judged",
       [](actor_fixture& x) { x.act->place = "docs/x"; }},
      {"words that wait for the end of a sentence",
       [](actor_fixture& x) { x.advance(std::chrono::milliseconds{1}); }},
  };
  // Handlers that these scenarios cannot reach, each with its reason.
  const std::set<std::string> unreachable{
      // Recovery's own message is tested below; so is the timer of limits.
      "dispatcher.restored_calls",
      "dispatcher.tick",
      // Turns of very many calls: below.
      "dispatcher.more_calls",
      "stream_consumer.broken_turn",
      // Only a transport with limits holds back: e2e/volley_capacity_test.cpp.
      "stream_consumer.model_held",
      // A look of ten seconds: parse_looks_test.cpp.
      "tool_call_parser.check_overdue",
      // A pool and its worker that fail together: supervision_test.cpp.
      "dispatcher.orphan_due",
      "dispatcher.work_returned",
      // Only a report that is lost on its way from another node is given up.
      "progress_muxer.give_up",
      // A timer for text that waits; these runs publish each token at once.
      "publisher.flush_due",
  };
  for (const auto& handler : handlers_in_sources()) {
    // The registry's are its end, and the runs': registry_death_test.cpp.
    if (unreachable.contains(handler) || handler.starts_with("run_registry."))
      continue;
    bool touched = false;
    for (const auto& scenario : scenarios) {
      INFO(scenario.first);
      for (const int skip : {0, 1, 2}) {
        fault f{handler, skip};
        touched = survives(f, scenario) || touched;
      }
    }
    INFO(handler);
    CHECK(touched);
  }
}

TEST_CASE("the timer for waiting text may fail too") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      model_says("no end of a sentence") + scripted_model::hold,
      model_says("The end.") + model_stops("stop")};
  fault f{"publisher.flush_due"};
  auto spec = x.make_spec();
  spec->publish.batching = "sentence";
  spec->faults = strike(f);
  x.start(spec);
  x.settle();
  x.advance(std::chrono::milliseconds{200});
  x.run_out();
  CHECK(f.fired);
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
}

TEST_CASE("what takes in large turns may fail too") {
  const std::string handler =
      GENERATE("dispatcher.more_calls", "stream_consumer.broken_turn");
  const bool endless = handler.starts_with("stream_consumer");
  actor_fixture x;
  x.begin();
  std::string calls;
  for (int i = 0; i < (endless ? 21'000 : 600); ++i)
    calls += model_calls(i, "look", {{"n", i}});
  const auto turn =
      calls + (endless ? scripted_model::hold : model_stops("tool_calls"));
  x.provider->answers = {turn, turn,
                         model_says("The end.") + model_stops("stop")};
  fault f{handler};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = endless ? 4 : 0;
  spec->faults = strike(f);
  x.start(spec);
  x.run_out();
  CHECK(f.fired);
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

TEST_CASE("recovery itself may fail, and the timer of limits") {
  for (const auto* handler : {"dispatcher.restored_calls", "dispatcher.tick"}) {
    INFO(handler);
    actor_fixture x;
    x.settings.defaults.timeout = std::chrono::seconds{5};
    x.begin();
    x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                           model_says("The end.") + model_stops("stop")};
    fault first{"orchestrator.settlement_committed"};
    fault second{handler};
    auto spec = x.make_spec();
    spec->faults = [one = strike(first), two = strike(second)](const auto& at) {
      one(at);
      two(at);
    };
    x.look->throw_times = 1;  // its repetition needs the timer
    x.start(spec);
    x.run_out();
    CHECK(second.fired);
    CHECK(x.reader->is_closed);
    check_log(x.reader->lines);
  }
}

TEST_CASE("a run that fails again and again ends with internal") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls")};
  auto spec = x.make_spec();
  spec->faults = [](const std::string& handler) {
    if (handler == "dispatcher.parsed_calls")
      throw std::runtime_error{"always"};
  };
  x.start(spec);
  x.run_out();
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  const auto errors = events_of(x.reader->lines, "error");
  INFO(x.reader->lines);
  INFO((x.reader->failure ? render(*x.reader->failure) : "no failure"));
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].at("data").at("code") == "internal");
}

TEST_CASE("what an actor throws at its birth is told in the log alone") {
  struct no_threads final : model::transport {
    model::transfer_id open(
        model::transport_request,
        std::shared_ptr<model::transfer_listener>) override {
      throw std::runtime_error{"no thread to be had"};
    }
    void grant(model::transfer_id, std::size_t) override {}
    void cancel(model::transfer_id) override {}
  };
  const log_lines log{"error"};
  std::ostringstream printed;
  auto* const before = std::cout.rdbuf(printed.rdbuf());
  {
    actor_fixture x;
    x.begin();
    auto spec = x.make_spec();
    spec->transport = std::make_shared<no_threads>();
    x.start(spec);
    x.run_out();
    CHECK(x.reader->is_closed);
    check_log(x.reader->lines);
  }
  std::cout.rdbuf(before);
  CHECK(printed.str() == "");
  CHECK_FALSE(log.with("stream_consumer: no thread to be had").empty());
}
