// SPDX-License-Identifier: MIT
// How use cases answer.
#include "runtime/service/reply.hpp"

#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::service;

namespace {

/// Runs its jobs when it is told to, or drops them.
struct held_jobs final : executor {
  void submit(job work, queue_ticket, job begun) override {
    if (begun) begun();
    jobs.push_back(std::move(work));
  }
  using executor::submit;
  std::vector<job> jobs;
};

reply<int> into(std::vector<expected<int>>& all) {
  return reply<int>{[&all](expected<int> x) { all.push_back(std::move(x)); }};
}

}  // namespace

TEST_CASE("the first answer counts, for all copies") {
  std::vector<expected<int>> told;
  {
    const auto to = into(told);
    const auto copy = to;
    to(7);
    copy(8);
  }
  REQUIRE(told.size() == 1);
  CHECK(told.front() == 7);
}

TEST_CASE("who is dropped is told that the runtime has ended") {
  std::vector<expected<int>> told;
  {
    const auto to = into(told);
    const auto copy = to;
    CHECK(told.empty());
  }
  REQUIRE(told.size() == 1);
  REQUIRE_FALSE(told.front());
  CHECK(told.front().error().code == errc::cancelled);
}

TEST_CASE("what an executor does not run is answered all the same") {
  std::vector<expected<int>> told;
  held_jobs where;
  answer_on<int>(&where, [] { return expected<int>{1}; }, into(told));
  answer_on<int>(&where, [] { return expected<int>{2}; }, into(told));
  CHECK(told.empty());  // nothing ran on this thread
  where.jobs.front()();
  REQUIRE(told.size() == 1);
  CHECK(told.front() == 1);
  where.jobs.clear();
  REQUIRE(told.size() == 2);
  CHECK_FALSE(told.back());
}

TEST_CASE("without an executor the answer is there at once") {
  std::vector<expected<int>> told;
  answer_on<int>(nullptr, [] { return expected<int>{1}; }, into(told));
  REQUIRE(told.size() == 1);
}

TEST_CASE("who may wait gets the answer of another thread") {
  std::jthread other;
  const auto got = wait_for<int>([&](reply<int> to) {
    other = std::jthread{[to = std::move(to)] { to(3); }};
  });
  CHECK(got == 3);
  const auto none = wait_for<int>([](const reply<int>&) {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::cancelled);
}
