// SPDX-License-Identifier: MIT
#include "runtime/base/trace.hpp"

#include <thread>

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

const std::string trace_of_client =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

}  // namespace

TEST_CASE("a traceparent is what the standard calls one") {
  CHECK(is_traceparent(trace_of_client));
  for (const auto* text :
       {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736000f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x"}) {
    CAPTURE(text);
    CHECK_FALSE(is_traceparent(text));
  }
}

TEST_CASE("a run's trace is its client's, or itself") {
  const run_id own{"run_own"};
  const auto trace = trace_of(own);
  CHECK(is_traceparent(trace));
  CHECK(trace_of(own) == trace);
  CHECK(trace_of(run_id{"run_other"}).substr(3, 32) != trace.substr(3, 32));
  keep_trace(own, trace_of_client);
  CHECK(trace_of(own) == trace_of_client);
}

TEST_CASE("a thread works for one run at a time") {
  CHECK(current_trace().empty());
  const run_id outer{"run_outer"};
  const run_id inner{"run_inner"};
  {
    const trace_scope one{outer};
    {
      const trace_scope two{inner};
      CHECK(current_trace() == trace_of(inner));
    }
    CHECK(current_trace() == trace_of(outer));
    bool other_works = true;
    std::jthread{[&] { other_works = !current_trace().empty(); }}.join();
    CHECK_FALSE(other_works);
  }
  CHECK(current_trace().empty());
}

TEST_CASE("a part of what a client asked for has the client's trace") {
  const run_id plan{"plan_whole"};
  const run_id step{"run_part"};
  const auto own = trace_of(step);
  share_trace(plan, step);
  CHECK(trace_of(step) == own);  // no client sent any
  keep_trace(plan, trace_of_client);
  share_trace(plan, step);
  CHECK(trace_of(step) == trace_of_client);
}

TEST_CASE("traces of old runs are forgotten") {
  const run_id first{"run_first"};
  const auto own = trace_of(first);
  keep_trace(first, trace_of_client);
  for (int i = 0; i < 10'000; ++i)
    keep_trace(run_id{"run_later" + std::to_string(i)}, trace_of_client);
  CHECK(trace_of(first) == own);
}
