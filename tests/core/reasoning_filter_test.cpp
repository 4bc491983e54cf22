// SPDX-License-Identifier: MIT
#include "actors/core/reasoning_filter.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using riffle::piece_kind;
using riffle::piece_list;
using riffle::core::reasoning_filter;

namespace {

using said = std::vector<std::pair<piece_kind, std::string>>;

constexpr auto thinks = piece_kind::reasoning;
constexpr auto says = piece_kind::text;

const std::string whole = "First I look at the file, then I change it.";

piece_list to_list(const said& x) {
  piece_list list;
  for (const auto& [kind, text] : x) list.add(kind, text);
  return list;
}

said filtered(reasoning_filter& filter, const said& x) {
  auto list = to_list(x);
  filter.apply(list);
  said out;
  list.for_each([&](piece_kind kind, std::string_view text) {
    out.emplace_back(kind, text);
  });
  return out;
}

}  // namespace

TEST_CASE("a block of reasoning that comes once more as a whole is removed") {
  reasoning_filter filter;
  CHECK(filtered(filter, {{thinks, whole.substr(0, 10)}}).size() == 1);
  CHECK(filtered(filter, {{thinks, whole.substr(10)}}).size() == 1);
  SECTION("at once") { CHECK(filtered(filter, {{thinks, whole}}).empty()); }
  SECTION("behind text") {
    CHECK(filtered(filter, {{says, "Yes."}, {thinks, whole}, {says, "No."}}) ==
          said{{says, "Yes."}, {says, "No."}});
  }
  SECTION("again and again") {
    CHECK(filtered(filter, {{says, "Yes."}}).size() == 1);
    for (int i = 0; i < 20; ++i)
      CHECK(filtered(filter, {{thinks, whole}}).empty());
  }
}

TEST_CASE("what is new, short, or text stays") {
  reasoning_filter filter;
  const said all{{thinks, "Hm. "}, {thinks, "Hm. "}, {says, whole},
                 {says, whole},    {thinks, whole},  {thinks, "Hm. "}};
  CHECK(filtered(filter, all) == all);
}

TEST_CASE("pieces that are equal are a model's own") {
  reasoning_filter filter;
  const said equal(300, {thinks, whole});
  for (const auto& x : equal) CHECK(filtered(filter, {x}).size() == 1);
}

TEST_CASE("only the last few blocks of a turn are remembered") {
  reasoning_filter filter;
  const auto block = [](int i) { return whole + std::to_string(i); };
  for (int i = 0; i < 20; ++i)
    CHECK(filtered(filter, {{thinks, block(i)}, {says, "."}}).size() == 2);
  CHECK(filtered(filter, {{thinks, block(19)}}).empty());
  CHECK(filtered(filter, {{thinks, block(12)}}).empty());
  CHECK(filtered(filter, {{thinks, block(0)}}).size() == 1);
}

TEST_CASE("without repetitions any split stays as it is") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 300; ++round) {
    reasoning_filter filter;
    for (int i = 0; i < 10; ++i) {
      said x;
      for (auto n = random() % 5; n > 0; --n)
        x.emplace_back(
            static_cast<piece_kind>(random() % 3),
            std::string(random() % 60, 'x') + std::to_string(random()));
      CHECK(filtered(filter, x) == x);
    }
  }
}
