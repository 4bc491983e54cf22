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

/// Runs of sessions of their own. Of each second one `gone` is deleted.
void write_store(const scratch_folder& folder, int n, const std::string& gone) {
  {
    const auto j = open_store(folder.path());
    for (int i = 1; i <= n; ++i) {
      const auto name = std::to_string(i);
      auto run = j->open_run(make_run("ses_" + name, "run_" + name))->run;
      if (i >= 50) continue;
      run.state = run_state::completed;
      REQUIRE_FALSE(store(*j, {run.id,
                               make_block(run.id.value, 1, 5),
                               {make_message(run, "hello"), run}}));
    }
  }
  change_file(folder.path(), gone);
}

struct steps {
  std::uint64_t first_list = 0;
  std::uint64_t unknown_ids = 0;
  std::uint64_t deletions = 0;
};

steps steps_in(int n, const std::string& gone) {
  const scratch_folder folder;
  write_store(folder, n, gone);
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
    for (int i = 1; i < 40; i += 2) {
      const session_id id{"ses_" + std::to_string(i)};
      CHECK(load_readable(*j, id)->session.runs.size() == 1);
      CHECK(j->delete_session(id));
    }
  });
  CHECK(out.first_list > 10);
  CHECK(out.unknown_ids > 10);
  CHECK(out.deletions > 1'000);
  return out;
}

const std::string whole_sessions =
    "DELETE FROM runs WHERE n % 2 = 0; DELETE FROM heads WHERE n % 2 = 0; "
    "DELETE FROM feed WHERE (key >> 40) % 2 = 0; "
    "DELETE FROM blocks WHERE (key >> 40) % 2 = 0; "
    "DELETE FROM messages WHERE (key >> 32) % 2 = 0";

}  // namespace

TEST_CASE("deleting costs the same beside few sessions and many") {
  const auto few = steps_in(2'500, whole_sessions);
  const auto many = steps_in(10'000, whole_sessions);
  CAPTURE(few.first_list, few.unknown_ids, few.deletions);
  CAPTURE(many.first_list, many.unknown_ids, many.deletions);
  CHECK(many.first_list < few.first_list * 3 / 2 + 100);
  CHECK(many.unknown_ids < few.unknown_ids * 3 / 2 + 100);
  CHECK(many.deletions < few.deletions * 3 / 2 + 100);
}

TEST_CASE("lost rows are looked for once, and for as long as there are many") {
  const std::string rows = "DELETE FROM runs WHERE n % 2 = 0";
  const auto few = steps_in(2'500, rows);
  const auto many = steps_in(10'000, rows);
  CAPTURE(few.first_list, few.unknown_ids, few.deletions);
  CAPTURE(many.first_list, many.unknown_ids, many.deletions);
  CHECK(few.first_list > 2'500);
  CHECK(many.first_list < few.first_list * 5);
  CHECK(many.unknown_ids < few.unknown_ids * 3 / 2 + 100);
  CHECK(many.deletions < few.deletions * 3 / 2 + 100);
}
