// SPDX-License-Identifier: MIT
#include "actors/core/key_index.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "actors/core/conflict.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::core;

namespace {

/// Many that are alike: few letters, empty components, slashes at both ends.
std::string random_key(std::mt19937& random, unsigned depth) {
  static const std::vector<std::string> parts{"a", "b", "ab", "", ".", "a"};
  std::string key = random() % 3 == 0 ? "" : "/";
  for (auto n = random() % depth; n > 0; --n)
    key += parts[random() % parts.size()] + "/";
  if (random() % 4 != 0) key += parts[random() % parts.size()];
  return key;
}

/// Looks at all.
std::optional<call_place> obvious_last(
    const std::multimap<call_place, std::string>& all, const std::string& key,
    call_place limit) {
  std::optional<call_place> found;
  for (const auto& [place, other] : all)
    if (place < limit && keys_overlap(other, key)) found = place;
  return found;
}

void compare_with_obvious(unsigned seed, unsigned depth) {
  std::mt19937 random{seed};
  key_index index;
  std::multimap<call_place, std::string> all;
  for (call_place i = 0; i < 300; ++i) {
    const auto key = random_key(random, depth);
    CAPTURE(seed, i, key);
    if (random() % 3 == 0 && !all.empty()) {
      const auto gone = random() % (i + 1);
      const auto [begin, end] = all.equal_range(gone);
      for (auto x = begin; x != end; ++x) index.remove(x->second, gone);
      all.erase(begin, end);
    } else {
      for (auto n = 1 + random() % 2; n > 0; --n) {
        const auto one = random_key(random, depth);
        index.add(one, i);
        all.emplace(i, one);
      }
    }
    const auto limit = random() % (i + 2);
    REQUIRE(index.last_before(key, limit) == obvious_last(all, key, limit));
  }
}

}  // namespace

TEST_CASE("the index finds the call that looking at all keys finds") {
  const unsigned first = riffle::testing::fresh_seed();
  WARN("seeds from " << first);
  for (unsigned i = 0; i < 60; ++i) {
    compare_with_obvious(first + i, 3);
    compare_with_obvious(first + i, 8);
  }
}

TEST_CASE("paths that branch at each of their folders are found too") {
  const unsigned first = riffle::testing::fresh_seed();
  WARN("seeds from " << first);
  for (unsigned i = 0; i < 10; ++i) compare_with_obvious(first + i, 80);
  key_index index;
  std::string path;
  for (call_place i = 0; i < 2000; ++i) index.add(path += "/a", i);
  CHECK(index.last_before(path + "/b", 5000) == 1999);
  CHECK(index.last_before("/a/a", 5000) == 1999);
  CHECK(index.last_before("/a/b", 5000) == 0);
  for (call_place i = 1999; i > 0; --i) {
    index.remove(path, i);
    path.resize(path.size() - 2);
  }
  CHECK(index.last_before("/a/a", 5000) == 0);
}
