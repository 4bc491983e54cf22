// SPDX-License-Identifier: MIT
// What deleting costs beside thousands of other sessions: steps of SQLite, not
// time.
#include <atomic>
#include <sqlite3.h>

#include "runtime/storage/readable_session.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

std::atomic<std::uint64_t> steps_done{0};

int count_steps(unsigned, void*, void* ended, void*) {
  steps_done += static_cast<std::uint64_t>(sqlite3_stmt_status(
      static_cast<sqlite3_stmt*>(ended), SQLITE_STMTSTATUS_VM_STEP, 1));
  return 0;
}

int watch_steps(sqlite3* db, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, count_steps, nullptr);
}

/// Connections that are made meanwhile count their steps.
class watched_steps {
 public:
  watched_steps() { sqlite3_auto_extension(entry()); }
  ~watched_steps() { sqlite3_cancel_auto_extension(entry()); }
  watched_steps(const watched_steps&) = delete;
  watched_steps& operator=(const watched_steps&) = delete;

 private:
  static void (*entry())() { return reinterpret_cast<void (*)()>(watch_steps); }
};

template <class F>
std::uint64_t steps_of(F f) {
  const auto before = steps_done.load();
  f();
  return steps_done.load() - before;
}

/// Sessions of one run each, which are to be read, deleted or listed.
void add_sessions(storage::journal& to, const std::string& kind, int count) {
  for (int i = 1; i <= count; ++i) {
    const auto name = kind + std::to_string(i);
    auto run = to.open_run(make_run("ses_" + name, "run_" + name))->run;
    run.state = run_state::completed;
    REQUIRE_FALSE(store(to, {run.id,
                             make_block(run.id.value, 1, 5),
                             {make_message(run, "hello"), run}}));
  }
}

/// `n` numbers stand between them: each second one is a run's, of which
/// nothing is read, the others are gaps (`is_lost`: with heads in them).
void write_store(const scratch_folder& folder, int n, bool is_lost) {
  add_sessions(*open_store(folder.path()), "old", 20);
  const auto numbers =
      "WITH RECURSIVE every(n) AS (SELECT 101 UNION ALL SELECT n + 1 FROM "
      "every WHERE n < 100 + " +
      std::to_string(n) + ") ";
  const std::string odd = "FROM every WHERE n % 2 = 1";
  change_file(folder.path(),
              numbers +
                  "INSERT INTO runs SELECT n, 'run_' || n, 'ses_' || n, "
                  "1, 1, '', 0, '' " +
                  odd);
  change_file(folder.path(), numbers +
                                 "INSERT INTO heads SELECT n, 0, 0, 0, "
                                 "0 " +
                                 (is_lost ? "FROM every" : odd));
  add_sessions(*open_store(folder.path()), "new", 3);
}

struct steps {
  std::uint64_t first_list = 0;
  std::uint64_t unknown_ids = 0;
  std::uint64_t deletions = 0;
};

steps steps_in(int n, bool is_lost) {
  const scratch_folder folder;
  write_store(folder, n, is_lost);
  const watched_steps watched;
  const auto j = open_store(folder.path());
  steps out;
  // The first list of a process makes its connection, too.
  out.first_list = steps_of([&] { CHECK(j->list_sessions(3)->size() == 3); });
  out.unknown_ids = steps_of([&] {
    for (int i = 0; i < 10; ++i)
      CHECK_FALSE(load_readable(*j, {"ses_of_nobody"}));
  });
  out.deletions = steps_of([&] {
    for (int i = 1; i <= 20; ++i) {
      const session_id id{"ses_old" + std::to_string(i)};
      CHECK(load_readable(*j, id)->session.runs.size() == 1);
      CHECK(j->delete_session(id));
    }
  });
  CHECK(out.first_list > 10);
  CHECK(out.unknown_ids > 10);
  CHECK(out.deletions > 1'000);
  return out;
}

}  // namespace

TEST_CASE("deleting costs the same beside few sessions and many") {
  const auto few = steps_in(5'000, false);
  const auto many = steps_in(20'000, false);
  CAPTURE(few.first_list, few.unknown_ids, few.deletions);
  CAPTURE(many.first_list, many.unknown_ids, many.deletions);
  CHECK(many.first_list < few.first_list * 3 / 2 + 100);
  CHECK(many.unknown_ids < few.unknown_ids * 3 / 2 + 100);
  CHECK(many.deletions < few.deletions * 3 / 2 + 100);
}

TEST_CASE("lost rows are looked for once, and for as long as there are many") {
  const auto few = steps_in(5'000, true);
  const auto many = steps_in(20'000, true);
  CAPTURE(few.first_list, few.unknown_ids, few.deletions);
  CAPTURE(many.first_list, many.unknown_ids, many.deletions);
  CHECK(few.first_list > 2'500);
  CHECK(many.first_list < few.first_list * 5);
  CHECK(many.unknown_ids < few.unknown_ids * 3 / 2 + 100);
  CHECK(many.deletions < few.deletions * 3 / 2 + 100);
}
