// SPDX-License-Identifier: MIT
#include "actors/core/cause_queue.hpp"

#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

const proposal_id a{"prop_a"};
const proposal_id b{"prop_b"};
using ids = std::vector<proposal_id>;

error why(errc code) { return {code, "test", "no"}; }

}  // namespace

TEST_CASE("a cause is tried once at a time, until it has started") {
  cause_queue x;
  CHECK(x.add(a, t0));
  CHECK(x.take_due(t0) == ids{a});
  CHECK(x.add(a, t0));  // told twice
  CHECK(x.take_due(t0 + 1h).empty());
  CHECK(x.on_answer(a, {}, t0) == cause_state::started);
  CHECK(x.empty());
}

TEST_CASE("a cause waits longer after each failure, but not for ever") {
  cause_queue x;
  x.add(a, t0);
  auto now = t0;
  std::vector<duration> pauses;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(x.take_due(now) == ids{a});
    CHECK(x.on_answer(a, why(errc::storage_unavailable), now) ==
          cause_state::later);
    const auto since = now;
    while (x.take_due(now).empty()) now += 100ms;
    pauses.push_back(now - since);
    x.on_answer(a, why(errc::session_busy), now);
  }
  CHECK(pauses == std::vector<duration>{500ms, 1s, 2s, 4s, 8s, 15s, 15s, 15s});
  CHECK(x.failures(a) == 8);
}

TEST_CASE("a cause is given up for what stays, and for nothing else") {
  cause_queue x;
  for (const auto code :
       {errc::session_busy, errc::budget_exceeded, errc::storage_unavailable,
        errc::timeout, errc::invalid_request, errc::invalid_config,
        errc::not_found, errc::storage_corrupt, errc::cancelled}) {
    CAPTURE(to_string(code));
    const bool later =
        code == errc::session_busy || code == errc::budget_exceeded ||
        code == errc::storage_unavailable || code == errc::timeout;
    x.add(b, t0);
    static_cast<void>(x.take_due(t0 + 1h));
    CHECK(x.on_answer(b, why(code), t0) ==
          (later ? cause_state::later : cause_state::given_up));
    CHECK(x.empty() == !later);
    x.on_answer(b, {}, t0);
  }
  auto again = why(errc::internal);
  again.retryable = true;
  x.add(b, t0);
  CHECK(x.on_answer(b, again, t0) == cause_state::later);
}

TEST_CASE("causes are bounded") {
  cause_queue x;
  for (std::size_t i = 0; i < cause_queue::most; ++i)
    REQUIRE(x.add({"prop_" + std::to_string(i)}, t0));
  CHECK_FALSE(x.add(a, t0));
  CHECK(x.add({"prop_7"}, t0));
}
