// SPDX-License-Identifier: MIT
// The disk is full or fails at the k-th operation, k = 1, 2, 3 …
#include <atomic>
#include <cstdlib>
#include <sqlite3.h>

#include "runtime/base/metrics.hpp"
#include "tests/storage/crash_workload.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;

void check_unavailable(const error& x) {
  CHECK(x.code == errc::storage_unavailable);
  CHECK(x.message.find("riffle.db") != std::string::npos);
}

/// Stores units of the workload from `first` until one fails; those that are
/// stored then. Nothing of the run may be stored after the first failure.
std::size_t store_until_failure(storage::journal& journal, std::size_t first) {
  std::size_t stored = first - 1;
  bool failed = false;
  for (std::size_t k = first; k <= workload_units; ++k) {
    const auto failure = store(journal, workload_unit("run_a", k));
    CHECK((failure || !failed));
    failed = failed || failure;
    if (!failure) ++stored;
    if (failure) check_unavailable(*failure);
  }
  return stored;
}

storage::sqlite_options small_log() {
  storage::sqlite_options options;
  options.checkpoint_pages = 16;
  options.log_rows = 7;
  options.on_note = [](const auto&) {};  // the log cannot be copied either
  return options;
}

/// How many runs are suspended, as the metric says.
struct suspended_gauge final : metric_reader {
  void on(const metric_about& what, double value,
          std::initializer_list<metric_label> /*labels*/) noexcept override {
    if (what.what == metric::suspended_runs) now += static_cast<int>(value);
  }
  std::atomic<int> now = 0;
};

/// There is room again: the run goes on where it stood, in the same process.
void go_on(storage::journal& journal, std::size_t stored,
           const suspended_gauge& gauge) {
  CHECK(gauge.now == (stored == workload_units ? 0 : 1));
  CHECK_FALSE(store(journal, {{"run_b"}, make_block("run_b", 1, 2), {}}));
  if (stored == workload_units) return;
  const auto suspended = journal.unfinished_runs(9);
  REQUIRE(suspended);
  REQUIRE(suspended->size() == 2);
  CHECK_FALSE(suspended->front().suspended);
  REQUIRE(suspended->back().suspended);
  check_unavailable(*suspended->back().suspended);
  const auto adopted = journal.adopt_run({"run_a"});
  CHECK(gauge.now == 0);
  REQUIRE(adopted);
  CHECK_FALSE(journal.unfinished_runs(9)->back().suspended);
  const auto units = units_up_to("run_a", adopted->last_seq);
  CHECK(units >= stored);
  REQUIRE(units <= workload_units);
  CHECK(store_until_failure(journal, units + 1) == workload_units);
}

/// Fails at operation `k` while the run's units are stored. False: there were
/// fewer operations.
bool fail_at(std::uint64_t k, int code) {
  CAPTURE(k, code);
  scratch_folder folder;
  bool untouched = false;
  fail_storage_at(0, SQLITE_OK);
  {
    auto opened = storage::sqlite_journal::open(folder.path(), small_log());
    REQUIRE(opened);
    auto& journal = **opened;
    REQUIRE(journal.open_run(make_run("ses_run_a", "run_a")));
    REQUIRE(journal.open_run(make_run("ses_run_b", "run_b")));
    const auto gauge = std::make_shared<suspended_gauge>();
    read_metrics(gauge);
    fail_storage_at(k, code);
    const auto stored = store_until_failure(journal, 1);
    untouched = storage_operations() < k;
    CHECK((stored == workload_units || !untouched));
    fail_storage_at(0, SQLITE_OK);
    go_on(journal, stored, *gauge);
    read_metrics(nullptr);
    CHECK(compare_with_prefix(journal, "run_a", workload_units) == "");
  }
  const auto journal = open_store(folder.path());
  CHECK(compare_with_prefix(*journal, "run_a", workload_units) == "");
  CHECK(read_all(*journal, "run_b").value() == make_lines("run_b", 1, 2));
  return !untouched;
}

void fail_everywhere(int code) {
  const std::uint64_t stride =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 1 : 7;
  std::uint64_t k = 1;
  while (fail_at(k, code)) k += k < 50 ? 1 : stride;
  CHECK(k > 100);
}

/// Opening fails at operation `k`, or the first run does; false: neither.
bool fail_open_at(std::uint64_t k, int code) {
  CAPTURE(k, code);
  scratch_folder folder;
  fail_storage_at(k, code);
  std::optional<error> why;
  {
    auto opened = storage::sqlite_journal::open(folder.path(), small_log());
    if (opened) {
      const auto run = (*opened)->open_run(make_run("ses_run_a", "run_a"));
      if (!run) why = run.error();
      fail_storage_at(0, SQLITE_OK);
      if (!run) CHECK((*opened)->open_run(make_run("ses_run_a", "run_a")));
    } else {
      why = opened.error();
    }
  }
  fail_storage_at(0, SQLITE_OK);
  CHECK(open_store(folder.path())->list_sessions(9)->size() <= 1);
  if (why) check_unavailable(*why);
  return why.has_value();
}

}  // namespace

TEST_CASE("a full disk is a clean error and costs nothing that was stored",
          "[torture]") {
  fail_everywhere(SQLITE_FULL);
}

TEST_CASE(
    "a failing disk is a clean error and costs nothing that was "
    "stored",
    "[torture]") {
  fail_everywhere(SQLITE_IOERR_WRITE);
}

TEST_CASE("a disk that is full from the start is a clean error, once") {
  const auto code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE);
  std::uint64_t k = 1;
  while (fail_open_at(k, code)) ++k;
  CHECK(k > 10);
}

TEST_CASE("what was stored can be read after a failure") {
  scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_run_a", "run_a")));
  REQUIRE_FALSE(store(*journal, workload_unit("run_a", 1)));
  REQUIRE(journal->load_run({"run_a"}));  // a reader is open
  fail_storage_at(1, SQLITE_FULL);
  const auto failure = store(*journal, workload_unit("run_a", 2));
  REQUIRE(failure);
  check_unavailable(*failure);
  CHECK(failure->message.find("full") != std::string::npos);
  check_unavailable(journal->open_run(make_run("ses_2", "run_2")).error());
  check_unavailable(journal->adopt_run({"run_a"}).error());
  CHECK(read_all(*journal, "run_a").value() ==
        *workload_unit("run_a", 1).block->lines);
  fail_storage_at(0, SQLITE_OK);
  CHECK(store(*journal, workload_unit("run_a", 2)));
  CHECK(journal->open_run(make_run("ses_2", "run_2")));
}

TEST_CASE("a disk that cannot be read for a moment is waited for") {
  scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  {
    const auto journal = open_store(folder.path());
    REQUIRE(journal->open_run(make_run("ses_run_a", "run_a")));
    for (std::size_t k = 1; k <= 5; ++k)
      REQUIRE_FALSE(store(*journal, workload_unit("run_a", k)));
  }
  std::size_t failed = 0;
  std::size_t stored = 5;
  for (std::uint64_t k = 1; k < 40; ++k) {
    CAPTURE(k);
    fail_reads_at(k);
    auto opened = storage::sqlite_journal::open(folder.path(), small_log());
    if (!opened) {
      fail_reads_at(0);
      check_unavailable(opened.error());
      CHECK(opened.error().retryable);
      ++failed;
      continue;
    }
    auto& journal = **opened;
    const auto name = "run_" + std::to_string(k);
    const auto why = [&]() -> std::optional<error> {
      if (const auto x = journal.load_session({"ses_run_a"}); !x)
        return x.error();
      if (const auto x = journal.adopt_run({"run_a"}); !x) return x.error();
      if (auto x = store(journal, workload_unit("run_a", stored + 1))) return x;
      ++stored;
      if (const auto x = journal.open_run(make_run("ses_" + name, name)); !x)
        return x.error();
      return {};
    }();
    fail_reads_at(0);
    if (why) {
      check_unavailable(*why);
      CHECK(why->retryable);
      ++failed;
    }
    // Then it goes on, in the same process.
    REQUIRE(journal.adopt_run({"run_a"}));
    REQUIRE_FALSE(store(journal, workload_unit("run_a", stored + 1)));
    ++stored;
    if (stored + 3 > workload_units) break;
  }
  CHECK(failed > 5);
  CHECK(compare_with_prefix(*open_store(folder.path()), "run_a", stored) == "");
}

TEST_CASE("damage that SQLite itself meets ends all writing of the process") {
  scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  {
    const auto journal = open_store(folder.path());
    for (const std::string n : {"a", "b"})
      REQUIRE(journal->open_run(make_run("ses_run_" + n, "run_" + n)));
    REQUIRE_FALSE(store(*journal, workload_unit("run_a", 1)));
    fail_storage_at(1, SQLITE_CORRUPT);
    const auto first = store(*journal, workload_unit("run_a", 2));
    fail_storage_at(0, SQLITE_OK);
    REQUIRE(first);
    CHECK(first->code == errc::storage_corrupt);
    const auto is_end = [](const auto& x) {
      return x && x->code == errc::storage_corrupt;
    };
    CHECK(is_end(store(*journal, workload_unit("run_a", 2))));
    CHECK(is_end(store(*journal, workload_unit("run_b", 1))));
    for (const auto& why :
         {journal->open_run(make_run("ses_c", "run_c")).error(),
          journal->adopt_run({"run_a"}).error()})
      CHECK(why.code == errc::storage_corrupt);
    // What /readyz asks.
    CHECK_FALSE(journal->set_state({{"riffle:ready"}, "ready", "1"}));
    CHECK(read_all(*journal, "run_a").value() ==
          *workload_unit("run_a", 1).block->lines);
  }
  const auto journal = open_store(folder.path());
  for (const std::string n : {"a", "b"}) {
    REQUIRE(journal->adopt_run({"run_" + n}));
    REQUIRE_FALSE(store(*journal, workload_unit("run_" + n, n == "a" ? 2 : 1)));
  }
}

TEST_CASE("a run that is given up counts as suspended no more") {
  const scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_run_a", "run_a")));
  const auto gauge = std::make_shared<suspended_gauge>();
  read_metrics(gauge);
  REQUIRE(store(*journal, {{"run_a"}, make_block("run_a", 7, 9), {}}));
  CHECK(gauge->now == 1);
  SECTION("alone") { REQUIRE(journal->disown_run({"run_a"})); }
  SECTION("with all the others") { REQUIRE(journal->leave_runs()); }
  CHECK(gauge->now == 0);
  REQUIRE(journal->adopt_run({"run_a"}));
  CHECK_FALSE(store(*journal, workload_unit("run_a", 1)));
  read_metrics(nullptr);
}

TEST_CASE("who ends a suspension ends none that began since") {
  storage::suspended_runs all;
  const run_id run{"run_1"};
  CHECK(all.mark(run) == 0);
  all.halt(run, {errc::storage_unavailable, "append", "first"});
  all.release(run, 0);  // it began since nothing was known of it
  REQUIRE(all.find(run));
  const auto first = all.mark(run);
  all.release(run, first);
  CHECK_FALSE(all.find(run));
  all.halt(run, {errc::storage_unavailable, "append", "second"});
  all.release(run, first);
  REQUIRE(all.find(run));
  CHECK(all.find(run)->message == "second");
}

TEST_CASE("a decision and a deletion on a full disk are whole or not there") {
  const auto code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE);
  std::uint64_t k = 1;
  for (bool failed = true; failed; ++k) {
    CAPTURE(k, code);
    const scratch_folder folder;
    fail_storage_at(0, SQLITE_OK);
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_run_a", "run_a"))->run;
    auto unit = workload_unit("run_a", 1);
    unit.changes.emplace_back(make_proposal(run, "prop_1"));
    REQUIRE_FALSE(store(*journal, std::move(unit)));
    const auto decide = [&] {
      return journal->decide(make_decision("prop_1"), "d1");
    };
    const auto decided = [&] {
      return !journal->decisions_of({{"prop_1"}})->empty();
    };
    fail_storage_at(k, code);
    const auto first = decide();
    if (!first) check_unavailable(first.error());
    fail_storage_at(0, SQLITE_OK);
    CHECK(decided() == first.has_value());
    REQUIRE(decide());
    CHECK(decided());
    REQUIRE(journal->disown_run({"run_a"}));
    fail_storage_at(k, code);
    const auto gone = journal->delete_session({"ses_run_a"});
    if (!gone) check_unavailable(gone.error());
    fail_storage_at(0, SQLITE_OK);
    const auto left = journal->load_session({"ses_run_a"});
    CHECK(left.has_value() == !gone.has_value());
    if (left) {
      CHECK(left->proposals.size() == 1);
      CHECK(read_all(*journal, "run_a").value() ==
            *workload_unit("run_a", 1).block->lines);
      CHECK(journal->delete_session({"ses_run_a"}));
    }
    failed = !first || !gone;
  }
  CHECK(k > 5);
}
