// SPDX-License-Identifier: MIT
// Questions come in the model's order, whatever is seen first.
#include "actors/core/ask_order.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/catch.hpp"

using namespace riffle;
using order = core::ask_order<int>;

namespace {

call_id call(int n) { return call_id{"call_" + std::to_string(n)}; }

std::vector<int> values(const order::ready& all) {
  std::vector<int> out;
  for (const auto& [id, x] : all) out.push_back(x);
  return out;
}

}  // namespace

TEST_CASE("what is seen out of order is asked in order, 200 times") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const int n = 1 + static_cast<int>(random() % 40);
    order x;
    std::vector<int> looks;
    std::vector<int> expected;
    std::vector<int> asked;
    const auto take = [&](const order::ready& all) {
      for (const auto one : values(all)) asked.push_back(one);
    };
    for (int i = 0; i < n; ++i) {
      x.on_request(call(i));
      looks.push_back(i);
      // Looks end while further calls are asked for; some calls are withdrawn.
      while (!looks.empty() && random() % 3 == 0) {
        std::ranges::shuffle(looks, random);
        const auto one = looks.back();
        looks.pop_back();
        if (random() % 8 == 0) {
          take(x.on_skip(call(one)));
        } else {
          expected.push_back(one);
          take(x.on_seen(call(one), one));
        }
      }
    }
    std::ranges::shuffle(looks, random);
    for (const auto one : looks) {
      expected.push_back(one);
      take(x.on_seen(call(one), one));
    }
    std::ranges::sort(expected);
    CHECK(asked == expected);
  }
}

TEST_CASE("a look that takes long keeps nobody, and is asked about later") {
  order x;
  for (int i = 0; i < 3; ++i) x.on_request(call(i));
  CHECK(values(x.on_seen(call(1), 1)).empty());
  CHECK(values(x.on_skip(call(0))) == std::vector{1});
  CHECK(values(x.on_seen(call(2), 2)) == std::vector{2});
  CHECK(values(x.on_seen(call(0), 0)) == std::vector{0});
}

TEST_CASE("ten thousand calls wait for the first one") {
  order x;
  constexpr int many = 10'000;
  for (int i = 0; i < many; ++i) x.on_request(call(i));
  for (int i = many; --i > 0;) CHECK(x.on_seen(call(i), i).empty());
  CHECK(x.on_seen(call(0), 0).size() == many);
}
