// SPDX-License-Identifier: MIT
#include "runtime/base/id_source.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;

namespace {

wall_clock fixed(std::int64_t ms) {
  return [ms] { return wall_time{ms * 1000}; };
}

std::string time_part(std::int64_t ms) {
  return id_source{1, fixed(ms)}.make("").substr(0, 10);
}

}  // namespace

TEST_CASE("an id is its prefix and 26 digits of Crockford's base 32") {
  id_source ids;
  CHECK(ids.next<run_id>().value.starts_with("run_"));
  CHECK(ids.next<session_id>().value.starts_with("ses_"));
  CHECK(ids.next<call_id>().value.starts_with("call_"));
  CHECK(ids.next<proposal_id>().value.starts_with("prop_"));
  for (int i = 0; i < 1000; ++i) {
    const auto id = ids.make("own_");
    REQUIRE(id.size() == 30);
    REQUIRE(id.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz", 4) ==
            std::string::npos);
    REQUIRE(id[4] <= '7');  // 130 bits of text hold 128 bits
  }
}

// The first two: the specification's own example ids.
TEST_CASE("the time part is that of the ULID specification") {
  CHECK(time_part(1'469'922'850'259) == "01arz3ndek");
  CHECK(time_part(1'469'918'176'385) == "01aryz6s41");
  CHECK(time_part(281'474'976'710'655) == "7zzzzzzzzz");
  CHECK(time_part(1) == "0000000001");
  CHECK(time_part(32) == "0000000010");
}

TEST_CASE("ids of one millisecond count up, over every carry") {
  id_source ids{7, fixed(1000)};
  auto last = ids.make("");
  for (int i = 0; i < 5000; ++i) {
    auto next = ids.make("");
    REQUIRE(last < next);
    REQUIRE(last.substr(0, 10) == next.substr(0, 10));
    last = std::move(next);
  }
}

TEST_CASE("ids sort in the order in which they were made, whatever the clock") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  std::int64_t now = 1'700'000'000'000'000;
  id_source ids{seed, [&] {
                  now += static_cast<std::int64_t>(random() % 3000) - 1000;
                  return wall_time{now};
                }};
  std::vector<std::string> made;
  for (int i = 0; i < 5000; ++i) made.push_back(ids.make("x_"));
  CHECK(std::is_sorted(made.begin(), made.end()));
  CHECK(std::adjacent_find(made.begin(), made.end()) == made.end());
}

TEST_CASE("a seed and a clock make the same ids again") {
  id_source a{3, fixed(5)};
  id_source b{3, fixed(5)};
  id_source c{4, fixed(5)};
  const auto first = a.make("");
  CHECK(first == b.make(""));
  CHECK(first != c.make(""));
}

TEST_CASE("ids are unique over threads and sources") {
  id_source shared;
  std::vector<std::vector<std::string>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine, &shared] {
      id_source own;
      for (int i = 0; i < 500; ++i) {
        mine.push_back(shared.make(""));
        mine.push_back(own.make(""));
      }
    });
  for (auto& t : threads) t.join();
  std::set<std::string> all;
  for (const auto& mine : made) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 4000);
}
