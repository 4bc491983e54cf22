// SPDX-License-Identifier: MIT
// A child process is killed at every operation on its files; then everything
// that it acknowledged is there, and what is there are whole units.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/storage/crash_workload.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;

const char* const other_run = "run_other";

/// What was acknowledged of the run that is deleted, in this order.
enum other_stage : std::uint8_t {
  other_none,
  other_stored,
  other_decided,
  other_left,
  other_goes,  ///< its deletion begins
  other_gone,
};

storage::commit_unit other_unit(const storage::run_record& run) {
  return {
      run.id,
      make_block(other_run, 1, 5, 400),
      {make_message(run, "what it said"), make_call(other_run, "call_other"),
       storage::output_record{{"call_other"}, std::string(9000, 'o')},
       make_proposal(run, "prop_other"),
       storage::file_record{
           run.session, "d",
           std::make_shared<const std::string>(std::string(9000, 'f'))}}};
}

void say(int fd, const std::string& line) {
  // One write, shorter than a pipe's atomic size.
  if (::write(fd, line.data(), line.size()) < 0) std::abort();
}

/// Appends the units of all runs, a few of each without acknowledgement.
class child_process {
 public:
  child_process(const fs::path& folder, int acks, int effects)
      : acks_{acks}, effects_{effects} {
    storage::sqlite_options options;
    options.checkpoint_pages = 16;
    options.log_rows = 9;  // so that it is moved many times
    auto opened = storage::sqlite_journal::open(folder, options);
    if (!opened) std::abort();
    journal_ = std::move(*opened);
  }

  void work() {
    work_on_other();
    for (const auto& run : workload_runs()) {
      if (!journal_->open_run(make_run("ses_" + run, run))) std::abort();
      say(acks_, run + " 0\n");
    }
    for (std::size_t k = 1; k <= workload_units; ++k) {
      for (const auto& run : workload_runs()) append(run, k);
      if (k == workload_units / 3) leave_and_adopt();
      if (k == workload_units / 2) delete_other();
    }
    wait_until(0);
  }

 private:
  /// A run that is decided about, and given up.
  void work_on_other() {
    const auto run = journal_->open_run(make_run("ses_other", other_run));
    if (!run) std::abort();
    if (store(*journal_, other_unit(run->run))) std::abort();
    tell_of_other(other_stored);
    if (!journal_->decide(make_decision("prop_other"), "d1")) std::abort();
    tell_of_other(other_decided);
    if (!journal_->disown_run({other_run})) std::abort();
    tell_of_other(other_left);
  }

  void leave_and_adopt() {
    wait_until(0);
    if (!journal_->leave_runs()) std::abort();
    for (const auto& run : workload_runs())
      if (!journal_->adopt_run({run})) std::abort();
  }

  void delete_other() {
    tell_of_other(other_goes);
    if (!journal_->delete_session({"ses_other"})) std::abort();
    tell_of_other(other_gone);
  }

  void tell_of_other(other_stage x) {
    say(acks_, other_run + std::string{" "} +
                   std::to_string(static_cast<int>(x)) + "\n");
  }

  void append(const std::string& run, std::size_t k) {
    wait_until(5);
    {
      std::lock_guard lock{mutex_};
      ++open_;
    }
    journal_->append(workload_unit(run, k), [this, run, k](auto failure) {
      if (failure) std::abort();
      const auto id = workload_intent(run, k);
      if (!id.empty()) say(effects_, run + " " + std::to_string(k) + "\n");
      say(acks_, run + " " + std::to_string(k) + "\n");
      std::lock_guard lock{mutex_};
      --open_;
      changed_.notify_one();
    });
  }

  void wait_until(int most) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return open_ <= most; });
  }

  int acks_;
  int effects_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
  std::unique_ptr<storage::sqlite_journal> journal_;
};

struct child_end {
  bool finished = false;
  bool killed = false;
  std::map<std::string, std::size_t> acknowledged;
};

const char* const child_name = "the child of the crash tests";

child_end run_child(const fs::path& folder,
                    const std::vector<std::string>& variables) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  std::vector<std::string> environment{"RIFFLE_TEST_CHILD_DIR=" +
                                       folder.string()};
  environment.insert(environment.end(), variables.begin(), variables.end());
  std::vector<char*> pointers;
  for (auto& x : environment) pointers.push_back(x.data());
  pointers.push_back(nullptr);
  std::string self = "/proc/self/exe";
  std::string name = child_name;
  char* arguments[] = {self.data(), name.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, self.c_str(), &actions, nullptr,
                                 arguments, pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  REQUIRE(code == 0);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  child_end end;
  end.finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  end.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  std::istringstream lines{text};
  std::string run;
  for (std::size_t k = 0; lines >> run >> k;) end.acknowledged[run] = k;
  return end;
}

/// Everything that was acknowledged is there, whole units only, and every
/// effect has its intent.
void check_recovered(const fs::path& folder, const child_end& end) {
  const auto journal = open_store(folder);
  std::map<std::string, std::size_t> stored;
  for (const auto& run : workload_runs()) {
    const auto record = journal->load_run({run});
    if (!record) {
      CHECK(record.error().code == errc::not_found);
      CHECK(end.acknowledged.count(run) == 0);
      continue;
    }
    auto units = workload_units;
    if (record->state == storage::run_state::active) {
      const auto adopted = journal->adopt_run({run});
      REQUIRE(adopted);
      units = units_up_to(run, adopted->last_seq);
    }
    REQUIRE(units <= workload_units);
    if (const auto i = end.acknowledged.find(run); i != end.acknowledged.end())
      CHECK(units >= i->second);
    CHECK(compare_with_prefix(*journal, run, units) == "");
    stored[run] = units;
  }
  std::ifstream effects{folder / "effects"};
  std::string run;
  for (std::size_t k = 0; effects >> run >> k;) CHECK(stored[run] >= k);
}

/// It is there as a whole, with what was decided about it, or not at all.
void check_other(const fs::path& folder, const child_end& end) {
  const auto i = end.acknowledged.find(other_run);
  const auto stage =
      i == end.acknowledged.end() ? std::size_t{other_none} : i->second;
  const auto journal = open_store(folder);
  const auto found = journal->load_session({"ses_other"});
  if (!found) {
    CHECK(found.error().code == errc::not_found);
    CHECK((stage == other_none || stage >= other_goes));
    if (stage == other_none) return;
    storage::sqlite::database db{folder / "riffle.db", std::chrono::seconds{1}};
    for (const std::string rest :
         {"runs WHERE n = 1", "heads WHERE n = 1",
          "messages WHERE key >> 32 = 1", "calls WHERE key >> 32 = 1",
          "blocks WHERE key >> 40 = 1", "feed WHERE key >> 40 = 1",
          "outputs WHERE id = 'call_other'",
          "proposals WHERE id = 'prop_other'",
          "decisions WHERE proposal = 'prop_other'",
          "files WHERE session = 'ses_other'"})
      CHECK(db.integer("SELECT count(*) FROM " + rest) == 0);
    return;
  }
  CHECK(stage < other_gone);
  if (stage == other_none) return;
  CHECK(read_all(*journal, other_run).value() ==
        make_lines(other_run, 1, 5, 400));
  CHECK(found->messages.size() == 1);
  CHECK(found->proposals.size() == 1);
  CHECK(journal->load_output({"call_other"}));
  CHECK(journal->load_files({"ses_other"})->size() == 1);
  const auto decided = journal->decisions_of({{"prop_other"}});
  REQUIRE(decided);
  if (stage >= other_decided) CHECK(decided->size() == 1);
  // Nobody's, or a dead process's: whoever asks can delete it.
  CHECK(journal->delete_session({"ses_other"}));
}

bool full() { return std::getenv("RIFFLE_TEST_FULL") != nullptr; }

/// Kills at N = 1, 2, 3 … until a child ends by itself; returns that N.
std::uint64_t kill_everywhere(const std::string& how, std::uint64_t begin,
                              std::uint64_t stride) {
  const auto next = [&](std::uint64_t n) {
    if (full() || (begin == 1 && n < 10)) return n + 1;
    return n + stride;
  };
  for (std::uint64_t n = full() ? 1 : begin;; n = next(n)) {
    CAPTURE(n, how);
    scratch_folder folder;
    const auto end = run_child(
        folder.path(), {"RIFFLE_TEST_KILL_AT=" + std::to_string(n), how});
    check_recovered(folder.path(), end);
    check_other(folder.path(), end);
    if (end.finished) return n;
    REQUIRE(end.killed);
  }
}

}  // namespace

TEST_CASE("the child of the crash tests", "[.child]") {
  const char* folder = std::getenv("RIFFLE_TEST_CHILD_DIR");
  if (folder == nullptr) return;
  ::alarm(120);
  install_crash_vfs();
  const int effects = ::open((fs::path{folder} / "effects").c_str(),
                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  child_process{folder, 3, effects}.work();
}

TEST_CASE("a kill before any operation loses nothing that was acknowledged",
          "[torture]") {
  const auto points = kill_everywhere("RIFFLE_TEST_KILL_AFTER=0", 1, 10);
  std::printf("operations on files in the crash test: about %llu\n",
              static_cast<unsigned long long>(points));
  CHECK(points > 100);
}

TEST_CASE("a kill after any operation loses nothing that was acknowledged",
          "[torture]") {
  CHECK(kill_everywhere("RIFFLE_TEST_KILL_AFTER=1", 17, 30) > 100);
}

TEST_CASE("a kill within any write loses nothing that was acknowledged",
          "[torture]") {
  CHECK(kill_everywhere("RIFFLE_TEST_KILL_TORN=1", 3, 20) > 100);
}

TEST_CASE("the crash layer writes its count at a normal exit") {
  scratch_folder folder;
  const auto file = folder.path() / "count";
  const auto end =
      run_child(folder.path(), {"RIFFLE_TEST_COUNT_FILE=" + file.string()});
  CHECK(end.finished);
  std::uint64_t count = 0;
  std::ifstream{file} >> count;
  CHECK(count > 100);
}
