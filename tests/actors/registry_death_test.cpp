// SPDX-License-Identifier: MIT
// The registry of runs dies: that is noticed, and its runs end with it.
#include "tests/actors/faults.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// What the registry has a handler for, by the handler's name.
caf::message message_for(const std::string& handler, actor_fixture& x,
                         const run_spec_ptr& spec) {
  const error why{errc::cancelled, "test", "over"};
  const std::map<std::string, caf::message> all{
      {"start", caf::make_message(start_run{spec, nullptr})},
      {"resume", caf::make_message(resume_run{spec, nullptr, {}})},
      {"withdraw", caf::make_message(withdraw_run{x.run, nullptr})},
      {"attach", caf::make_message(attach_subscriber{x.run, x.reader})},
      {"cancel", caf::make_message(cancel_run{x.run, why})},
      {"cancel_call", caf::make_message(cancel_call{x.run, {"call_1"}})},
      {"ended", caf::make_message(run_ended{x.run})},
      {"broken", caf::make_message(run_broken{x.run, why})},
      {"returned", caf::make_message(work_returned{x.run, {"call_1"}, 1})},
      {"completed", caf::make_message(spec_completed{x.run, 1, spec, {}})},
      {"written", caf::make_message(wait_written{x.run, 1, {}})},
      {"wait", caf::make_message(wait_due{x.run, 1})},
      {"tell", caf::make_message(tell_run{x.run, "more"})},
      {"deadline", caf::make_message(run_deadline{x.run, 1})},
      {"probe", caf::make_message(probe_journal{})},
      {"revive", caf::make_message(revive_pool{"look"})},
      {"pool_of_node", caf::make_message(pool_of_node{"look@n", {}})},
      {"shut_down", caf::make_message(shut_down{})}};
  return all.at(handler.substr(handler.find('.') + 1));
}

}  // namespace

TEST_CASE(
    "an exception in any handler of the registry is its noticed end, and its "
    "runs end with it") {
  const auto handlers = handlers_of("run_registry");
  CHECK(handlers.size() == 19);
  for (const auto& handler : handlers) {
    CAPTURE(handler);
    actor_fixture x;
    fault f{handler, handler == "run_registry.start" ? 1 : 0};
    x.process_faults = f.hook();
    x.settings.defaults.approval = "ask";
    x.approval = approve::ask;
    x.begin();
    x.settle();
    bool died = false;
    caf::actor_cast<caf::abstract_actor*>(x.registry)
        ->attach_functor([&died](const caf::error& why) {
          died = why != caf::exit_reason::user_shutdown;
        });
    const auto before = x.system->registry().running();
    x.provider->answers = {model_calls(0, "act") + model_stops("tool_calls")};
    const auto spec = x.make_spec();
    x.start(spec);
    for (int i = 0; i < 100 && x.undecided().empty(); ++i) {
      x.settle();
      x.advance(100ms);
    }
    REQUIRE(x.undecided().size() == 1);
    REQUIRE(x.system->registry().running() > before);
    if (handler == "run_registry.down")
      kill_pool(x, "look");
    else
      caf::anon_send(caf::actor_cast<caf::actor>(x.registry),
                     message_for(handler, x, spec));
    x.settle();
    CHECK(f.fired);
    CHECK(died);
    // The registry is gone, and of the run nothing is left.
    CHECK(x.system->registry().running() < before);
    CHECK(x.act->acted.empty());
  }
}

TEST_CASE("a registry that is killed takes its runs along") {
  actor_fixture x;
  x.begin();
  x.settle();
  const auto before = x.system->registry().running();
  x.run_blocking = false;
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls")};
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.system->registry().running() > before);
  caf::anon_send_exit(x.registry, caf::exit_reason::kill);
  x.settle();
  // The worker of `look`, which its pool began with the call, is there; of the
  // run, which has several actors, nothing.
  CHECK(x.system->registry().running() <= before);
  x.run_blocking = true;
}
