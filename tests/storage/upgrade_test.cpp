// SPDX-License-Identifier: MIT
// A large file of an older version is brought up to date, and is still one when
// that was killed in the middle.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"
#include "tests/support/repetitions.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr std::uint64_t events_of_run = 1000;
constexpr std::uint64_t events_of_block = 50;

std::string run_name(std::uint64_t n) { return "run_" + std::to_string(n); }

/// Every other run is still active.
void fill(const fs::path& folder, std::uint64_t events, int version) {
  {
    const auto journal = open_store(folder);
    for (std::uint64_t n = 0; n < events / events_of_run; ++n) {
      const auto id = run_name(n);
      auto run = journal->open_run(make_run("ses_" + id, id))->run;
      for (std::uint64_t k = 1; k < events_of_run; k += events_of_block) {
        storage::commit_unit unit{
            run.id, make_block(id, k, k + events_of_block - 1), {}};
        const bool last = k + events_of_block > events_of_run;
        if (last && n % 2 == 0) {
          run.state = storage::run_state::completed;
          unit.changes.push_back(run);
        }
        REQUIRE_FALSE(store(*journal, std::move(unit)));
      }
    }
  }
  make_older(folder, version);
}

void check_runs(const fs::path& folder, std::uint64_t events,
                std::uint64_t between) {
  const auto journal = open_store(folder);
  std::uint64_t seen = 0;
  for (std::uint64_t n = 0; n < events / events_of_run; n += between) {
    const auto id = run_name(n);
    CHECK(read_all(*journal, id, 0, 1u << 20) ==
          make_lines(id, 1, events_of_run));
    if (n % 2 == 0) continue;
    ++seen;
    REQUIRE(journal->adopt_run({id}));
    CHECK_FALSE(store(
        *journal,
        {{id}, make_block(id, events_of_run + 1, events_of_run + 2), {}}));
  }
  CHECK(seen > 0);
}

const char* const child_name = "the child of the upgrade tests";

/// Opens the file in a process that is killed at operation `at` (0: none).
/// True: it was.
bool is_killed(const fs::path& folder, std::uint64_t at) {
  std::string self = "/proc/self/exe";
  std::string name = child_name;
  std::string variables[] = {"RIFFLE_TEST_CHILD_DIR=" + folder.string(),
                             "RIFFLE_TEST_KILL_AT=" + std::to_string(at)};
  char* arguments[] = {self.data(), name.data(), nullptr};
  char* environment[] = {variables[0].data(), variables[1].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, self.c_str(), &actions, nullptr,
                                 arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(code == 0);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  REQUIRE((finished || killed));
  return killed;
}

}  // namespace

TEST_CASE("the child of the upgrade tests", "[.child]") {
  const auto* folder = std::getenv("RIFFLE_TEST_CHILD_DIR");
  if (folder == nullptr) return;
  install_crash_vfs();
  REQUIRE(open_store(folder));
}

TEST_CASE("an upgrade that is killed at any moment starts again") {
  const std::uint64_t events = 10'000;
  const scratch_folder old;
  const auto version = GENERATE(1, 4, 5, 7);
  fill(old.path(), events, version);
  std::uint64_t kills = 0;
  for (std::uint64_t at = 1;; ++at) {
    const scratch_folder folder;
    fs::copy(
        old.path(), folder.path(),
        fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    if (!is_killed(folder.path(), at)) break;
    ++kills;
    CAPTURE(version, at);
    // Another one may be killed in its place.
    static_cast<void>(is_killed(folder.path(), kills % 7 + 1));
    check_runs(folder.path(), events, 5);
  }
  std::printf("version %d: killed at %llu operations\n", version,
              static_cast<unsigned long long>(kills));
  CHECK(kills > 5);
}

TEST_CASE("a file of each older version is brought up to date") {
  const auto version = GENERATE(range(1, 8));
  CAPTURE(version);
  const scratch_folder folder;
  fill(folder.path(), 3'000, version);
  check_runs(folder.path(), 3'000, 1);
}

TEST_CASE("a large file of an older version is opened in under a minute") {
  const auto events =
      static_cast<std::uint64_t>(repetitions(10'000, 100'000, 1'000'000));
  const scratch_folder folder;
  fill(folder.path(), events, 4);
  const auto begin = clock::now();
  REQUIRE(open_store(folder.path()));
  const std::chrono::duration<double> took = clock::now() - begin;
  std::printf("%llu events of version 4 opened in %.3f s\n",
              static_cast<unsigned long long>(events), took.count());
  CHECK(took.count() < 60);
  check_runs(folder.path(), events, events / events_of_run / 10 | 1);
}
