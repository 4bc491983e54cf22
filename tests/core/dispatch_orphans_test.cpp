// SPDX-License-Identifier: MIT
// Work that goes on although nobody hears from it.
#include "actors/core/dispatch_queue.hpp"
#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

tool_call read_of(const std::string& id, std::uint32_t attempts = 3) {
  tool_call x;
  x.id = {id};
  x.tool = "look";
  x.arguments = "{\"id\":\"" + id + "\"}";
  x.eff = effect::read_only;
  x.keys = {"a"};
  x.limits.attempts = attempts;
  return x;
}

tool_call write_of(const std::string& id) {
  auto x = read_of(id);
  x.tool = "redo";
  x.eff = effect::mutating;
  x.idempotent = true;
  return x;
}

template <class Effect>
std::vector<Effect> all(const dispatch_effects& effects) {
  std::vector<Effect> out;
  for (const auto& x : effects)
    if (const auto* found = std::get_if<Effect>(&x)) out.push_back(*found);
  return out;
}

}  // namespace

TEST_CASE("a call whose work nobody hears from settles, and keeps its keys") {
  dispatch_queue q;
  CHECK(all<start_work>(q.on_call(read_of("a"), t0)).size() == 1);
  q.on_call(write_of("b"), t0);
  q.on_gate(true, t0);
  const auto out = q.on_work_orphaned({"a"}, 1, "it died", t0);
  const auto settled = all<settle_call>(out);
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].result.how == outcome::interrupted);
  CHECK(settled[0].result.err->message.find("may still be running") !=
        std::string::npos);
  CHECK(all<retry_call>(out).empty());  // not beside the first
  CHECK(all<begin_call>(out).empty());  // what it touches is touched
  CHECK(q.abandoned() == 1);
  const bool by_worker = GENERATE(false, true);
  const auto freed = by_worker ? q.on_worker_lost({"a"}, 1, "late", t0)
                               : q.on_work_returned({"a"}, 1, t0);
  CHECK(all<begin_call>(freed).size() == 1);
  CHECK(q.abandoned() == 0);
  CHECK(q.on_work_returned({"a"}, 1, t0).empty());
}

TEST_CASE("a call that was being stopped settles as it was to") {
  dispatch_queue q;
  q.on_call(read_of("a"), t0);
  q.on_cancel({"a"}, t0);
  const auto settled = all<settle_call>(q.on_work_orphaned({"a"}, 1, "x", t0));
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].result.how == outcome::cancelled);
  CHECK(q.abandoned() == 1);
}

TEST_CASE("a restored call that still acts is settled, not begun again") {
  const bool drained = GENERATE(false, true);
  dispatch_queue q;
  q.restore({{.call = read_of("a"), .attempt = 1, .begun = true, .acting = 2}},
            {});
  const auto out =
      drained ? q.on_drain(drain_reason::interrupted, t0) : q.on_gate(true, t0);
  const auto settled = all<settle_call>(out);
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].result.how == outcome::interrupted);
  CHECK(all<start_work>(out).empty());
  CHECK(q.abandoned() == 1);
  q.on_next_step();
  q.on_call(write_of("c"), t0);
  CHECK(all<begin_call>(q.on_gate(true, t0)).empty());
  CHECK(all<begin_call>(q.on_work_returned({"a"}, 2, t0)).size() == 1);
}

TEST_CASE("what a crash cut is not cancelled by who ends the run") {
  const auto acting = GENERATE(0U, 1U);  // or it still acts
  const auto why = GENERATE(drain_reason::cancelled, drain_reason::timed_out);
  auto call = write_of("a");
  call.idempotent = false;
  dispatch_queue q;
  q.restore({{.call = call,
              .attempt = 1,
              .announced = true,
              .begun = true,
              .acting = acting}},
            {});
  const auto settled = all<settle_call>(q.on_drain(why, t0));
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].result.how == outcome::interrupted);
  CHECK(settled[0].result.err->message.find("its outcome is unknown") !=
        std::string::npos);
}

TEST_CASE("a restored call whose work ends before it is looked at goes on") {
  dispatch_queue q;
  q.restore({{.call = read_of("a"), .attempt = 1, .begun = true, .acting = 1}},
            {});
  const auto work = all<start_work>(q.on_work_returned({"a"}, 1, t0));
  REQUIRE(work.size() == 1);
  CHECK(work[0].attempt == 2);
}

TEST_CASE("a call whose record was lost, not its end, settles by that end") {
  const bool drained = GENERATE(false, true);
  auto call = write_of("a");
  call.idempotent = false;
  call_result end;
  end.output = "done";
  end.took = 2s;
  end.attempts = 1;
  dispatch_queue q;
  q.restore({{.call = call,
              .attempt = 1,
              .announced = true,
              .begun = true,
              .known = std::make_shared<const call_result>(end)}},
            {});
  const auto settled = all<settle_call>(
      drained ? q.on_drain(drain_reason::cancelled, t0) : q.on_gate(true, t0));
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].result == end);
  CHECK(settled[0].announced);
}
