// SPDX-License-Identifier: MIT
// Memory runs out at the k-th allocation of the storage, k = 1, 2, 3 …: a
// clean error, or the process ends; either way the store is whole.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/storage/crash_workload.hpp"
#include "tests/storage/memory_fault.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;

bool full() { return std::getenv("RIFFLE_TEST_FULL") != nullptr; }

/// `f()` while its allocations count.
template <class F>
auto in_scope(F f) -> decltype(f()) {
  struct guard {
    guard() { begin_scope(); }
    ~guard() { end_scope(); }
  } const on;
  return f();
}

void say(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) < 0) ::_exit(9);
}

/// What the child does; it says each unit that was acknowledged.
/// 0: no failure, 3: a clean error and the journal goes on, 4: a bad error.
int work(const std::filesystem::path& folder, int acks) {
  storage::sqlite_options options;
  options.checkpoint_pages = 16;
  options.on_note = [](const auto&) {};
  bool bad = false;
  const auto clean = [&bad](const error& x) {
    if (x.code != errc::storage_unavailable || x.message.empty()) {
      std::fprintf(stderr, "%s\n", render(x).c_str());
      bad = true;
    }
  };
  try {
    auto opened = in_scope(
        [&] { return storage::sqlite_journal::open(folder, options); });
    if (!opened) {
      clean(opened.error());
      return bad ? 4 : 3;
    }
    auto& journal = **opened;
    auto run = make_run("ses_run_a", "run_a");
    const auto begun = in_scope([&] { return journal.open_run(run); });
    if (!begun) clean(begun.error());
    bool failed = !begun;
    for (std::size_t k = 1; begun && k <= workload_units; ++k) {
      auto unit = workload_unit("run_a", k);
      const auto failure = store(journal, std::move(unit));
      if (failure) clean(*failure);
      if (failed && !failure) bad = true;  // a gap in the log
      failed = failed || failure;
      if (!failure) say(acks, std::to_string(k) + "\n");
    }
    const auto read = in_scope([&] { return journal.load_run({"run_a"}); });
    if (!read && begun) clean(read.error());
    failed = failed || !read;
    // There is memory again: it goes on.
    stop_failing_memory();
    if (journal.open_run(make_run("ses_b", "run_b")))
      return bad ? 4 : 3 * failed;
    return 5;
  } catch (const std::bad_alloc&) {
    return 3;  // the caller's own: it may end its process
  }
}

struct child_end {
  int status = 0;
  bool fault = false;
  std::size_t acknowledged = 0;
};

child_end run_child(const std::filesystem::path& folder, allocator whose,
                    std::uint64_t at, bool for_good) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::fflush(nullptr);
  const auto pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::alarm(30);
    for (const int signal : {SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);
    // What terminate says about itself is no news.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(9);
    fail_memory_at(whose, at, for_good);
    const int status = work(folder, ends[1]);
    stop_failing_memory();
    if (memory_failed()) say(ends[1], "fault\n");
    ::_exit(status);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  child_end end;
  REQUIRE(::waitpid(pid, &end.status, 0) == pid);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line == "fault")
      end.fault = true;
    else
      end.acknowledged = std::stoul(line);
  }
  return end;
}

/// The store is whole: what was acknowledged is there, in whole units.
void check_store(const std::filesystem::path& folder, const child_end& end) {
  const auto journal = open_store(folder);
  const auto record = journal->load_run({"run_a"});
  if (!record) {
    CHECK(record.error().code == errc::not_found);
    CHECK(end.acknowledged == 0);
    return;
  }
  auto units = workload_units;
  if (record->state == storage::run_state::active) {
    const auto adopted = journal->adopt_run({"run_a"});
    REQUIRE(adopted);
    units = units_up_to("run_a", adopted->last_seq);
  }
  REQUIRE(units <= workload_units);
  CHECK(units >= end.acknowledged);
  CHECK(compare_with_prefix(*journal, "run_a", units) == "");
}

/// False: it was not reached.
bool fails_well_at(allocator whose, std::uint64_t k, bool for_good,
                   std::size_t& clean) {
  CAPTURE(static_cast<int>(whose), k, for_good);
  const scratch_folder folder;
  const auto end = run_child(folder.path(), whose, k, for_good);
  const bool ended = WIFSIGNALED(end.status);
  const int status = ended ? 0 : WEXITSTATUS(end.status);
  // Ending is allowed (a thread had no memory even to say so), hanging or
  // running into something else is not.
  if (ended) CHECK(WTERMSIG(end.status) == SIGABRT);
  CHECK((status == 0 || status == 3));
  if (!ended && end.fault) ++clean;  // an error, or it did without
  check_store(folder.path(), end);
  return ended || end.fault;
}

void fail_everywhere(allocator whose, bool for_good) {
  std::uint64_t k = 1;
  std::size_t clean = 0;
  std::size_t all = 0;
  while (fails_well_at(whose, k, for_good, clean)) {
    ++all;
    k += full() || k < 60 ? 1 : 1 + k / 12;
  }
  INFO("clean errors: " << clean << " of " << all);
  CHECK(all > 60);
  if (whose == allocator::sqlite) CHECK(clean == all);
  if (!for_good) CHECK(clean > all / 4);
}

}  // namespace

TEST_CASE("SQLite is out of memory at any allocation, once or for good",
          "[torture]") {
  fail_everywhere(allocator::sqlite, false);
  fail_everywhere(allocator::sqlite, true);
}

TEST_CASE("the storage is out of memory at any allocation, once or for good",
          "[torture]") {
  fail_everywhere(allocator::ours, false);
  fail_everywhere(allocator::ours, true);
}

TEST_CASE("memory that runs out at the first allocations is a clean error") {
  std::size_t clean = 0;
  for (std::uint64_t k = 1; k <= 8; ++k) {
    CHECK(fails_well_at(allocator::sqlite, k, false, clean));
    CHECK(fails_well_at(allocator::ours, k, false, clean));
  }
  CHECK(clean >= 8);
}
