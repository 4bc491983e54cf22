// SPDX-License-Identifier: MIT
// The twins: what they add to the port.
#include "tests/support/test_journal.hpp"

#include <map>

#include "runtime/storage/memory_journal.hpp"
#include "tests/storage/crash_workload.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

/// Calls what is due when it is told to.
class hand_timer final : public riffle::timer {
 public:
  void after(duration, std::function<void()> job) override {
    jobs.push_back(std::move(job));
  }
  std::vector<std::function<void()>> jobs;
};

std::shared_ptr<test_journal> opened(test_journal::options how = {}) {
  auto journal = std::make_shared<test_journal>(how);
  for (const auto& run : workload_runs())
    REQUIRE(journal->open_run(make_run("ses_" + run, run)));
  return journal;
}

}  // namespace

TEST_CASE("the test journal keeps the order of each run, not between runs") {
  bool overtook = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto journal = opened({seed, 1ms, 20ms, nullptr});
    std::map<std::string, std::size_t> last;
    for (std::size_t k = 1; k <= 10; ++k)
      for (const auto& run : workload_runs())
        journal->append(workload_unit(run, k), [&, run, k](auto failure) {
          CHECK_FALSE(failure);
          CHECK(last[run] + 1 == k);
          last[run] = k;
          overtook = overtook || last["run_b"] > last["run_a"];
        });
    CHECK(journal->pending() == 20);
    CHECK(last.empty());
    CHECK(journal->release_one());
    CHECK(journal->pending() == 19);
    journal->release_all();
    CHECK(last["run_a"] == 10);
    CHECK(last["run_b"] == 10);
    CHECK_FALSE(journal->release_one());
  }
  CHECK(overtook);
}

TEST_CASE("the test journal releases what is due on its own clock") {
  const auto journal = opened({3, 10ms, 10ms, nullptr});
  int done = 0;
  journal->append(workload_unit("run_a", 1), [&](auto) { ++done; });
  journal->advance(9ms);
  CHECK(done == 0);
  CHECK(read_all(*journal, "run_a").value().empty());
  journal->append(workload_unit("run_a", 2), [&](auto) { ++done; });
  journal->advance(1ms);
  CHECK(done == 1);
  journal->advance(9ms);
  CHECK(done == 2);
}

TEST_CASE("the test journal releases by a timer") {
  hand_timer timer;
  const auto journal = opened({3, 1ms, 20ms, &timer});
  int done = 0;
  for (std::size_t k = 1; k <= 3; ++k)
    journal->append(workload_unit("run_a", k), [&](auto) { ++done; });
  REQUIRE(timer.jobs.size() == 3);
  for (const auto& job : timer.jobs) job();
  CHECK(done == 3);
}

TEST_CASE("the test journal fails at the append that it was told") {
  const auto journal = opened();
  journal->fail_at(3);
  std::vector<bool> failed;
  for (std::size_t k = 1; k <= 5; ++k)
    journal->append(workload_unit("run_a", k), [&](auto failure) {
      failed.push_back(failure.has_value());
      if (failure) CHECK(failure->code == errc::storage_unavailable);
    });
  journal->release_all();
  CHECK(failed == std::vector{false, false, true, true, true});
  CHECK(compare_with_prefix(*journal, "run_a", 2) == "");
}

TEST_CASE("a run of the test journal is suspended until it is adopted again") {
  const auto journal = opened();
  std::optional<error> failure;
  const auto put = [&](const std::string& run, std::size_t k) {
    failure.reset();
    journal->append(workload_unit(run, k),
                    [&](auto why) { failure = std::move(why); });
    journal->release_all();
    return !failure;
  };
  CHECK(put("run_a", 1));
  journal->fail_writes(true);
  CHECK_FALSE(put("run_a", 2));
  CHECK_FALSE(journal->adopt_run({"run_a"}));
  CHECK_FALSE(journal->open_run(make_run("ses_run_c", "run_c")));
  journal->fail_writes(false);
  CHECK_FALSE(put("run_a", 2));
  CHECK(put("run_b", 1));
  CHECK(journal->unfinished_runs(9)->back().suspended);
  REQUIRE(journal->adopt_run({"run_a"}));
  CHECK_FALSE(journal->unfinished_runs(9)->back().suspended);
  CHECK(put("run_a", 2));
  CHECK(compare_with_prefix(*journal, "run_a", 2) == "");
}

TEST_CASE("a crash of the test journal leaves a prefix of whole units") {
  std::map<std::size_t, int> seen;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto journal = opened();
    std::size_t acknowledged = 0;
    for (std::size_t k = 1; k <= 8; ++k)
      journal->append(workload_unit("run_a", k), [&](auto) { ++acknowledged; });
    for (int i = 0; i < 3; ++i) journal->release_one();
    const auto next = journal->crash(seed);
    journal->release_all();
    CHECK(acknowledged == 3);
    const auto units =
        units_up_to("run_a", next->adopt_run({"run_a"})->last_seq);
    CHECK(units >= 3);
    REQUIRE(units <= 8);
    CHECK(compare_with_prefix(*next, "run_a", units) == "");
    ++seen[units];
  }
  CHECK(seen.size() == 6);  // 3 to 8: every one came
}

TEST_CASE("the memory journal drops the logs of runs that ended long ago") {
  const auto journal = storage::make_memory_journal(2);
  for (const std::string name : {"run_1", "run_2", "run_3", "run_4"}) {
    auto run = journal->open_run(make_run("ses_1", name))->run;
    if (name != "run_4") run.state = storage::run_state::completed;
    REQUIRE_FALSE(store(
        *journal, {run.id,
                   make_block(name, 1, 5),
                   {make_message(run, name),
                    storage::output_record{{"call_" + name}, "text"}, run}}));
  }
  CHECK(read_all(*journal, "run_1").error().code == errc::not_found);
  CHECK(journal->load_output({"call_run_1"}).error().code == errc::not_found);
  for (const std::string name : {"run_2", "run_3", "run_4"}) {
    CHECK(read_all(*journal, name).value() == make_lines(name, 1, 5));
    CHECK(journal->load_output({"call_" + name}));
  }
  CHECK(journal->load_session({"ses_1"})->messages.size() == 4);
  CHECK(journal->adopt_run({"run_4"})->last_seq == 5);
}
