// SPDX-License-Identifier: MIT
#include "actors/core/fan_out.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

using riffle::core::fan_out;
using riffle::core::reader_state;
using riffle::core::subscriber_id;

using subs = std::vector<subscriber_id>;

namespace {

subs gets(fan_out& x, std::uint64_t first, std::uint64_t last) {
  subs out;
  x.on_acked(first, last, [&](auto id) { out.push_back(id); });
  return out;
}

}  // namespace

TEST_CASE("a subscriber_id that has everything is live") {
  fan_out x;
  CHECK(x.attach(1, 0, 0) == reader_state::live);
  CHECK(x.attach(2, 10, 10) == reader_state::live);
  CHECK(x.attach(3, 9, 10) == reader_state::behind);
  CHECK(x.live() == 2);
  CHECK(x.size() == 3);
}

TEST_CASE("live subscribers get each block, those behind get none") {
  fan_out x;
  x.attach(1, 10, 10);
  x.attach(2, 3, 10);
  CHECK(gets(x, 11, 20) == subs{1});
  CHECK(x.attach(2, 20, 20) == reader_state::live);
  CHECK(gets(x, 21, 22) == subs{1, 2});
}

TEST_CASE("who has no room falls behind until it attaches again") {
  fan_out x;
  x.attach(1, 0, 0);
  x.attach(2, 0, 0);
  x.on_refused(1);
  x.on_refused(7);
  CHECK(gets(x, 1, 5) == subs{2});
  CHECK(x.attach(1, 0, 5) == reader_state::behind);
  CHECK(x.attach(1, 5, 5) == reader_state::live);
  CHECK(gets(x, 6, 6) == subs{1, 2});
}

TEST_CASE("who read ahead in the journal gets no block that it has") {
  fan_out x;
  CHECK(x.attach(1, 20, 10) == reader_state::live);
  CHECK(x.attach(2, 15, 10) == reader_state::live);
  CHECK(gets(x, 11, 20) == subs{2});
  CHECK(gets(x, 21, 21) == subs{1, 2});
}

TEST_CASE("who detaches is forgotten") {
  fan_out x;
  x.attach(1, 0, 0);
  x.detach(1);
  x.detach(2);
  CHECK(gets(x, 1, 1).empty());
  CHECK(x.size() == 0);
}

namespace {

/// A reader as the publisher's users write it.
struct reader {
  std::uint64_t has = 0;
  std::size_t room = 0;
  bool behind = false;

  void lines(std::uint64_t first, std::uint64_t last) {
    REQUIRE(first <= has + 1);
    has = std::max(has, last);
  }
};

}  // namespace

TEST_CASE("every schedule gives each reader every event, without a hole") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    fan_out x;
    std::map<subscriber_id, reader> readers;
    std::uint64_t acked = 0;      // what the publisher knows
    std::uint64_t committed = 0;  // what the journal shows
    const auto page = [&](subscriber_id sub, reader& r, std::uint64_t most) {
      const auto last = std::min(committed, r.has + most);
      if (last > r.has) r.lines(r.has + 1, last);
      r.behind = x.attach(sub, r.has, acked) == reader_state::behind;
    };
    const auto ack = [&] {
      for (const auto sub : gets(x, acked + 1, committed)) {
        auto& r = readers.at(sub);
        REQUIRE_FALSE(r.behind);
        REQUIRE(r.has < committed);
        if (r.room == 0) {
          r.behind = true;
          x.on_refused(sub);
        } else {
          --r.room;
          r.lines(acked + 1, committed);
        }
      }
      acked = committed;
    };
    for (int i = 0; i < 200; ++i) {
      const auto sub = static_cast<subscriber_id>(random() % 5);
      switch (random() % 4) {
        case 0:
          if (committed == acked) committed += 1 + random() % 6;
          break;
        case 1:
          if (committed > acked) ack();
          break;
        case 2:
          if (!readers.contains(sub)) {
            readers[sub].has = random() % (acked + 1);
            page(sub, readers[sub], 0);
          } else if (readers[sub].behind) {
            page(sub, readers[sub], 1 + random() % 4);
          }
          break;
        default:
          if (readers.contains(sub)) readers[sub].room += random() % 3;
      }
    }
    if (committed > acked) ack();
    for (auto& [sub, r] : readers) {
      for (int i = 0; r.behind && i < 10000; ++i) page(sub, r, 3);
      REQUIRE(r.has == committed);
    }
    REQUIRE(x.live() == readers.size());
  }
}
