// SPDX-License-Identifier: MIT
// Which runs a server takes up again, and when.
#include "runtime/http/going_runs.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

run_id numbered(int i) { return run_id{"run_" + std::to_string(i)}; }

}  // namespace

TEST_CASE("a run is not taken up twice, however long the first time takes") {
  going_runs x;
  const time_point begin{};
  const auto later = begin + std::chrono::hours{1};
  const std::set active{numbered(1), numbered(2)};
  x.ask(numbered(1), begin);
  x.ask(numbered(2), begin);
  x.look(active, later);
  CHECK(x.knows(numbered(1)));
  x.look({}, later);  // somebody has ended them: the answer is still to come
  CHECK(x.knows(numbered(1)));
  x.answered(numbered(1));
  x.look(active, later);
  CHECK_FALSE(x.knows(numbered(1)));
  CHECK(x.over(numbered(2)));
  CHECK_FALSE(x.over(numbered(2)));
  x.answered(numbered(2));
  CHECK_FALSE(x.knows(numbered(2)));
}

TEST_CASE("runs that are slow to be taken up keep others only for a while") {
  going_runs x;
  const time_point begin{};
  x.ask(numbered(1), begin);
  x.ask(numbered(2), begin);
  CHECK_FALSE(x.has_room(2, begin));
  const auto later = begin + going_runs::settling_in + duration{1};
  CHECK(x.has_room(2, later));
  // But not with all threads.
  for (int i = 3; i <= static_cast<int>(going_runs::most_asked); ++i) {
    CHECK(x.has_room(100, begin));
    x.ask(numbered(i), begin);
  }
  CHECK_FALSE(x.has_room(2, later));
  x.answered(numbered(1));
  CHECK(x.has_room(2, later));
}
