// SPDX-License-Identifier: MIT
#include "actors/core/budget.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include "messages/money.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::core;

namespace {

call_id id(int n) { return call_id{"call_" + std::to_string(n)}; }

token_usage used(std::uint64_t input, std::uint64_t output, double cost = 0) {
  token_usage x;
  x.input_tokens = input;
  x.output_tokens = output;
  if (cost > 0) x.cost_usd = cost;
  return x;
}

}  // namespace

TEST_CASE("what a turn needs is reserved before it is asked for") {
  const run_budget budget{0, 1000, 0};
  CHECK_FALSE(cannot_pay(budget, {}, used(300, 200), 499));
  const auto why = cannot_pay(budget, {}, used(300, 200), 500);
  REQUIRE(why);
  CHECK(why->code == errc::budget_exceeded);
  CHECK(why->message ==
        "the run's budget of 1000 tokens does not pay for another model call: "
        "500 are used, and it needs about 501; allow more with budget.tokens "
        "of the agent");
}

TEST_CASE("money is reserved at the model's price") {
  const run_budget budget{0, 0, 0.01};
  const token_price price{2.0, 4.0};
  CHECK_FALSE(cannot_pay(budget, price, used(0, 0, 0.005), 2000));
  const auto why = cannot_pay(budget, price, used(0, 0, 0.005), 2600);
  REQUIRE(why);
  CHECK(why->message.find("0.01 USD") != std::string::npos);
  CHECK(why->message.find("budget.cost_usd") != std::string::npos);
  CHECK(cannot_pay(budget, {}, used(0, 0, 0.01), 1));
}

TEST_CASE("without a budget everything can be paid") {
  CHECK_FALSE(cannot_pay({}, {1, 1}, used(1u << 30, 1u << 30, 1e9), 1u << 30));
  call_budget calls;
  for (int i = 0; i < 1000; ++i) CHECK(calls.reserve(id(i)));
}

TEST_CASE("cost is counted with a price only") {
  CHECK_FALSE(cost_of({}, used(1000, 1000)));
  CHECK(cost_of({0.5, 3.0}, used(1'000'000, 500'000)) == 2.0);
  CHECK(cost_of({0, 3.0}, used(1'000'000, 500'000)) == 1.5);
  auto cached = used(1'000'000, 0);
  cached.cached_tokens = 900'000;
  CHECK(cost_of({2.0, 3.0}, cached) == 2.0);
  CHECK(cost_of({2.0, 3.0, 0.2}, cached) == 0.38);
  CHECK(cost_of({2.0, 3.0, 0.0}, cached) == 0.2);
  cached.cached_tokens = 2'000'000;  // a server that says nonsense
  CHECK(cost_of({2.0, 3.0, 0.2}, cached) == 0.2);
}

TEST_CASE("a call beyond the budget gets no place") {
  call_budget calls{2};
  CHECK(calls.reserve(id(1)));
  CHECK(calls.reserve(id(2)));
  CHECK_FALSE(calls.reserve(id(3)));
  CHECK(calls.refusal().code == errc::budget_exceeded);
  CHECK(calls.refusal().message.find("2 tool calls") != std::string::npos);
}

TEST_CASE("a call that never began gives its place back") {
  call_budget calls{1};
  CHECK(calls.reserve(id(1)));
  calls.on_settled(id(1));
  CHECK(calls.reserve(id(2)));
  calls.on_begun(id(2));
  calls.on_begun(id(2));  // another attempt
  calls.on_settled(id(2));
  CHECK_FALSE(calls.reserve(id(3)));
}

TEST_CASE("calls of an earlier life count") {
  call_budget calls{3, 2};
  CHECK(calls.reserve(id(1)));
  CHECK_FALSE(calls.reserve(id(2)));
}

TEST_CASE("never do more calls begin than the budget allows") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 200; ++round) {
    const auto limit = 1 + random() % 6;
    call_budget calls{static_cast<std::uint32_t>(limit)};
    std::vector<int> open;
    std::set<int> begun;
    for (int i = 0; i < 60; ++i) {
      if (random() % 2 == 0) {
        const bool free = begun.size() + open.size() < limit;
        CHECK(calls.reserve(id(i)) == free);
        if (free) open.push_back(i);
      } else if (!open.empty()) {
        const auto at = random() % open.size();
        const auto call = open[at];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        if (random() % 2 == 0) {
          calls.on_begun(id(call));
          begun.insert(call);
        }
        calls.on_settled(id(call));
      }
      CHECK(begun.size() <= limit);
    }
  }
}

TEST_CASE("what was paid has no tails of binary fractions") {
  token_usage sum;
  for (int i = 0; i < 3; ++i) add(sum, used(0, 0, 0.814));
  CHECK(sum.cost_usd == 2.442);
  CHECK(cost_of({2.01, 2.01}, used(1'000'000, 500'000)) == 3.015);
  // A token of the cheapest models is still a part of a cent.
  CHECK(cost_of({0.0375, 0.15}, used(1, 0)) == 3.75e-8);
  CHECK(rounded_usd(-0.1 - 0.2) == -0.3);
  CHECK(rounded_usd(1e300) == 1e300);
}

TEST_CASE("sums of usage stop at the largest number") {
  constexpr auto most = ~std::uint64_t{0};
  token_usage sum{most, 3, most - 1, {}, 1e308, false};
  add(sum, {1, most, 5, 7, 1e308, false});
  CHECK(sum.input_tokens == most);
  CHECK(sum.output_tokens == most);
  CHECK(sum.cached_tokens == most);
  CHECK(sum.reasoning_tokens == 7u);
  CHECK(sum.cost_usd == std::numeric_limits<double>::max());
  CHECK(total_tokens(sum) == most);
}

TEST_CASE("no number of tokens is so large that it fits a budget again") {
  constexpr auto most = ~std::uint64_t{0};
  const core::run_budget budget{0, 1'000'000, 0};
  for (const auto& used : {token_usage{most, 1, {}, {}, {}, false},
                           token_usage{1, most, {}, {}, {}, false},
                           token_usage{most, most, {}, {}, {}, false}}) {
    const auto why = core::cannot_pay(budget, {}, used, 1);
    REQUIRE(why);
    CHECK(why->code == errc::budget_exceeded);
  }
  CHECK(core::cannot_pay(budget, {}, {}, most));
}
