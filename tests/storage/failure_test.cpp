// SPDX-License-Identifier: MIT
// The disk is full or fails at the k-th operation, k = 1, 2, 3 …
#include <cstdlib>
#include <sqlite3.h>

#include "tests/storage/crash_workload.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;

/// Stores the workload of one run; the number of units that were stored. The
/// first failure must be clean, and nothing may be stored after it.
std::size_t store_until_failure(const std::filesystem::path& folder) {
  storage::sqlite_options options;
  options.checkpoint_pages = 16;
  const auto opened = storage::sqlite_journal::open(folder, options);
  if (!opened) {
    CHECK(opened.error().code == errc::storage_unavailable);
    CHECK(opened.error().message.find("riffle.db") != std::string::npos);
    return 0;
  }
  auto& journal = **opened;
  const auto run = journal.open_run(make_run("ses_run_a", "run_a"));
  if (!run) {
    CHECK(run.error().code == errc::storage_unavailable);
    return 0;
  }
  std::size_t stored = 0;
  bool failed = false;
  for (std::size_t k = 1; k <= workload_units; ++k) {
    const auto failure = store(journal, workload_unit("run_a", k));
    CHECK((failure || !failed));
    failed = failed || failure;
    if (!failure)
      ++stored;
    else
      CHECK(failure->code == errc::storage_unavailable);
    if (failure) CHECK(failure->message.find("riffle.db") != std::string::npos);
  }
  return stored;
}

void fail_everywhere(int code) {
  const std::uint64_t stride =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 1 : 13;
  for (std::uint64_t k = 1;; k += k < 20 ? 1 : stride) {
    CAPTURE(k, code);
    scratch_folder folder;
    fail_storage_at(k, code);
    const auto stored = store_until_failure(folder.path());
    const bool untouched = storage_operations() < k;
    fail_storage_at(0, SQLITE_OK);
    if (untouched) {
      CHECK(stored == workload_units);
      CHECK(k > 100);
      return;
    }
    const auto journal = open_store(folder.path());
    const auto record = journal->load_run({"run_a"});
    if (!record) {
      CHECK(record.error().code == errc::not_found);
      CHECK(stored == 0);
      continue;
    }
    const auto last = record->state == storage::run_state::active
                          ? journal->adopt_run({"run_a"})->last_seq
                          : read_all(*journal, "run_a").value().size();
    const auto units = record->state == storage::run_state::active
                           ? units_up_to("run_a", last)
                           : workload_units;
    CHECK(units >= stored);
    REQUIRE(units <= workload_units);
    CHECK(compare_with_prefix(*journal, "run_a", units) == "");
  }
}

}  // namespace

TEST_CASE("a full disk is a clean error and costs nothing that was stored") {
  fail_everywhere(SQLITE_FULL);
}

TEST_CASE(
    "a failing disk is a clean error and costs nothing that was "
    "stored") {
  fail_everywhere(SQLITE_IOERR_WRITE);
}

TEST_CASE("what was stored can be read after a failure") {
  scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_run_a", "run_a")));
  REQUIRE_FALSE(store(*journal, workload_unit("run_a", 1)));
  fail_storage_at(1, SQLITE_FULL);
  const auto failure = store(*journal, workload_unit("run_a", 2));
  fail_storage_at(0, SQLITE_OK);
  REQUIRE(failure);
  CHECK(failure->code == errc::storage_unavailable);
  CHECK(failure->message.find("full") != std::string::npos);
  CHECK(store(*journal, workload_unit("run_a", 2)));
  CHECK(journal->open_run(make_run("ses_2", "run_2")).error().code ==
        errc::storage_unavailable);
  CHECK(read_all(*journal, "run_a").value() ==
        *workload_unit("run_a", 1).block->lines);
}
