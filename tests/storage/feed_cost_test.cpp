// SPDX-License-Identifier: MIT
// What a page of the order of all runs costs: rows and statements, not time.
#include <atomic>
#include <sqlite3.h>

#include "tests/storage/journal_kinds.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

std::atomic<std::uint64_t> work_done{0};

int count_work(unsigned, void*, void*, void*) {
  ++work_done;
  return 0;
}

int watch_connection(sqlite3* db, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_ROW | SQLITE_TRACE_STMT, count_work,
                          nullptr);
}

/// Connections that are made meanwhile count what they do.
class watched_connections {
 public:
  watched_connections() { sqlite3_auto_extension(entry()); }
  ~watched_connections() { sqlite3_cancel_auto_extension(entry()); }
  watched_connections(const watched_connections&) = delete;
  watched_connections& operator=(const watched_connections&) = delete;

 private:
  static void (*entry())() {
    return reinterpret_cast<void (*)()>(watch_connection);
  }
};

struct page_cost {
  std::size_t entries = 0;
  std::uint64_t work = 0;
};

/// Of the second page behind a place, on a connection that has read before.
page_cost cost_of_page(journal& j, const feed_place& after) {
  const auto first = j.read_feed(after, 2'000).value();
  const auto before = work_done.load();
  const auto page = j.read_feed(first.next, 2'000).value();
  return {page.entries.size(), work_done.load() - before};
}

/// Many short runs, one after the other.
void write_runs(journal& j, int n) {
  for (int i = 0; i < n; ++i) {
    const auto name = "run_" + std::to_string(i);
    auto run = j.open_run(make_run("ses_" + name, name))->run;
    run.state = run_state::completed;
    REQUIRE_FALSE(store(j, {run.id, make_block(name, 1, 5), {run}}));
  }
}

/// A few long ones beside each other, so that each row has many commits.
void write_beside(journal& j, int rounds) {
  for (int i = 0; i < 10; ++i) {
    const auto name = "run_" + std::to_string(i);
    REQUIRE(j.open_run(make_run("ses_" + name, name)));
  }
  for (int k = 1; k <= rounds; ++k)
    for (int i = 0; i < 10; ++i) {
      const auto seq = static_cast<std::uint64_t>(k);
      REQUIRE_FALSE(store(j, log_unit("run_" + std::to_string(i), seq, seq)));
    }
}

/// All of it was moved into rows of the runs, or still lies in the log.
page_cost cost_in(void (*write)(journal&, int), int n, bool moved) {
  const watched_connections watched;
  const scratch_folder folder;
  auto j = open_store(folder.path());
  write(*j, n);
  if (moved) {
    j.reset();
    j = open_store(folder.path());
  }
  const auto cost = cost_of_page(*j, {});
  CHECK(cost.entries > 3);
  CHECK(cost.work > cost.entries);
  // From the last quarter on it costs the same.
  auto at = feed_place{};
  at.commit = j->end_of_feed()->commit / 4 * 3;
  const auto later = cost_of_page(*j, at);
  CHECK(later.entries > 3);
  CHECK(later.work < cost.work * 2 + 40);
  return cost;
}

}  // namespace

TEST_CASE("a page of the order costs what it holds, whatever else there is") {
  const auto write = GENERATE(&write_runs, &write_beside);
  const bool moved = GENERATE(true, false);
  CAPTURE(write == &write_runs, moved);
  const int n = write == &write_runs ? 100 : 50;
  const auto few = cost_in(write, n, moved);
  const auto many = cost_in(write, n * 8, moved);
  CAPTURE(few.entries, few.work, many.entries, many.work);
  CHECK(many.entries <= few.entries + 2);
  CHECK(many.work < few.work * 3 / 2 + 40);
  // Each entry has a run, a head and a block, each found at once; the walk to
  // it looks into each class a few times.
  CHECK(many.work < 20 * many.entries + 400);
}
