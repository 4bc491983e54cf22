// SPDX-License-Identifier: MIT
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "actors/core/tool_call_assembler.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using riffle::call_fragment;
using riffle::core::tool_call_assembler;

TEST_CASE("a fragment finds the call that a search of all calls finds") {
  const unsigned seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  static const std::string ids[] = {"", "", "a", "b", "c", "d"};
  for (int round = 0; round < 300; ++round) {
    tool_call_assembler calls;
    std::vector<call_fragment> firsts;  // of each call
    std::vector<std::string> texts;
    for (int i = 0; i < 40; ++i) {
      call_fragment x;
      x.choice = random() % 2;
      if (random() % 3 != 0) x.index = random() % 3;
      x.id = ids[random() % 6];
      x.arguments = "x";  // never whole, so that only ids begin a call
      // The newest of its choice and index with its id, else the newest.
      std::optional<std::size_t> at;
      std::optional<std::size_t> newest;
      for (auto k = firsts.size(); k-- > 0 && !at;) {
        const auto& y = firsts[k];
        if (y.choice != x.choice || (x.index && y.index != x.index)) continue;
        if (x.id.empty() || y.id == x.id) at = k;
        if (!newest && x.index) newest = k;
      }
      if (!at) at = newest;
      const bool another = at && !x.id.empty() && !firsts[*at].id.empty() &&
                           x.id != firsts[*at].id;
      if (!at || another) {
        at = firsts.size();
        firsts.push_back(x);
        texts.emplace_back();
      }
      if (firsts[*at].id.empty()) firsts[*at].id = x.id;
      texts[*at] += "x";
      calls.on_fragment(x);
      REQUIRE(calls.calls().size() == firsts.size());
    }
    for (std::size_t k = 0; k < firsts.size(); ++k) {
      CHECK(calls.calls()[k].arguments == texts[k]);
      CHECK(calls.calls()[k].provider_id == firsts[k].id);
    }
  }
}
