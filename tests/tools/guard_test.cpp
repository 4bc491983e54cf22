// SPDX-License-Identifier: MIT
#include "tools/process/guard.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/process/process.hpp"
#include "tools/process/small_guard.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace riffle::testing;
using std::chrono::steady_clock;

namespace {

constexpr const char* folder_name = "RIFFLE_TEST_CHILD_FOLDER";
constexpr const char* shared_name = "RIFFLE_TEST_CHILD_SHARED";

/// Four writers, one of them a daemon that ignores SIGTERM; each also tells
/// that it began.
constexpr const char* busy_tree =
    "writer() { echo $BASHPID >> pids; while :; do echo x >> log; done; };"
    "writer & (writer &); (trap '' TERM; setsid bash -c \""
    "  echo \\$\\$ >> pids; while :; do echo x >> log; done\" &)"
    "; writer";

struct process {
  pid_t pid = -1;

  void kill_it() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = -1;
  }
  ~process() { kill_it(); }
};

/// Runs the hidden case below: a runtime of its own.
process start_runtime(const std::filesystem::path& folder, bool shared) {
  ::setenv(folder_name, folder.c_str(), 1);
  if (shared)
    ::setenv(shared_name, "", 1);
  else
    ::unsetenv(shared_name);
  std::string exe = "/proc/self/exe";
  std::string test = "[.child]";
  char* arguments[] = {exe.data(), test.data(), nullptr};
  process result;
  REQUIRE(::posix_spawn(&result.pid, exe.c_str(), nullptr, nullptr, arguments,
                        ::environ) == 0);
  return result;
}

std::size_t lines_in(const std::filesystem::path& file) {
  const auto text = slurp(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool locked(const std::filesystem::path& file) {
  const unique_fd fd{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace

TEST_CASE("a runtime that is killed by the tests", "[.child]") {
  const char* folder = std::getenv(folder_name);
  REQUIRE(folder);
  tool_context context;
  context.workspace = folder;
  context.kill_grace = 200ms;
  context.guard_lock = context.workspace / "lock";
  bash_options options;
  if (std::getenv(shared_name) != nullptr) options.space = pid_space::shared;
  make_bash(options)->run({{"command", busy_tree}}, context);
}

TEST_CASE(
    "when the runtime is killed, its tools end and then the lock is "
    "free") {
  const bool shared = GENERATE(false, true);
  CAPTURE(shared);
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 5; ++round) {
    const temp_folder folder;
    const auto lock = folder.path() / "lock";
    const auto log = folder.path() / "log";
    auto runtime = start_runtime(folder.path(), shared);
    REQUIRE(
        eventually([&] { return lines_in(folder.path() / "pids") == 4; }, 30s));
    CHECK(locked(lock));
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 5000});
    runtime.kill_it();
    const auto killed = steady_clock::now();
    REQUIRE(wait_for_guard(lock, killed + 10s));
    const auto size = std::filesystem::file_size(log);
    CHECK(processes_in(folder.path()).empty());
    std::this_thread::sleep_for(30ms);
    CHECK(std::filesystem::file_size(log) == size);
    CHECK_FALSE(std::filesystem::exists(lock));
  }
}

TEST_CASE("a runtime killed at any moment of the start leaves nothing") {
  const bool shared = GENERATE(false, true);
  CAPTURE(shared);
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  std::size_t started = 0;
  for (int round = 0; round < 10; ++round) {
    const temp_folder folder;
    const auto lock = folder.path() / "lock";
    auto runtime = start_runtime(folder.path(), shared);
    REQUIRE(eventually([&] { return std::filesystem::exists(lock); }, 30s));
    if (round % 3 == 2)  // else often before anything began
      REQUIRE(eventually([&] { return lines_in(folder.path() / "pids") > 0; },
                         30s));
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 20'000});
    runtime.kill_it();
    REQUIRE(wait_for_guard(lock, steady_clock::now() + 10s));
    const auto text = slurp(folder.path() / "log");
    CHECK(processes_in(folder.path()).empty());
    started += lines_in(folder.path() / "pids");
    std::this_thread::sleep_for(30ms);
    CHECK(slurp(folder.path() / "log").size() == text.size());
  }
  CHECK(started >= 3);
}

TEST_CASE("the lock is held while a tool runs, hidden from it, and then gone") {
  tool_fixture x;
  x.context.guard_lock = x.folder.path() / "lock";
  bool held = false;
  x.context.progress = [&](const tool_progress_report&) {
    if (x.folder.has("seen")) return;
    held = locked(x.context.guard_lock);
    x.folder.write("seen", "");
  };
  const auto result = make_bash({})->run(
      {{"command",
        "ls -l /proc/self/fd /proc/$$/fd; until [ -e seen ]; do :; done"}},
      x.context);
  CHECK_FALSE(result.err);
  CHECK(held);
  CHECK(result.text.find("lock") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(x.context.guard_lock));
}

TEST_CASE("a command that cannot start leaves no lock") {
  tool_fixture x;
  x.context.guard_lock = x.folder.path() / "lock";
  const auto result = make_bash({})->run(
      {{"command", "true " + std::string(200'000, 'x')}}, x.context);
  REQUIRE(result.err);
  CHECK(result.err->code == errc::invalid_arguments);
  CHECK_FALSE(std::filesystem::exists(x.context.guard_lock));
}

TEST_CASE("waiting for a guard is bounded, and free of what never was") {
  const temp_folder folder;
  const auto file = folder.path() / "lock";
  CHECK(wait_for_guard(file, steady_clock::now()));
  auto lock = lock_for_guard(file);
  REQUIRE(lock);
  const auto begin = steady_clock::now();
  const auto late = wait_for_guard(file, begin + 50ms);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == errc::internal);
  CHECK(steady_clock::now() - begin >= 50ms);
  CHECK_FALSE(lock_for_guard(file));
  std::thread free{[&] { lock->reset(); }};
  CHECK(wait_for_guard(file, steady_clock::now() + 10s));
  free.join();
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(wait_for_guard(file, steady_clock::now()));
  CHECK_FALSE(lock_for_guard(folder.path() / "no/such/folder"));
}

TEST_CASE("a command's guard is a small program, a worker's this one") {
  if (!stands_in_for(this_program)) return skip("it carries no small guard");
  struct keep final : process_listener {
    void on_output(output_stream, std::string_view bytes) override {
      text += bytes;
    }
    std::string text;
  };
  const temp_folder folder;
  /// Pages of its guard, which anybody may know.
  const auto size_of = [&](const std::string& guard) {
    keep listener;
    process_request request;
    request.command = {"sh", "-c", "cut -d' ' -f1 /proc/$PPID/statm"};
    request.folder = folder.path();
    request.environment = {"PATH=/usr/bin:/bin"};
    request.space = pid_space::shared;
    request.guard_program = guard;
    REQUIRE(run_process(request, listener, {}));
    return std::stol("0" + listener.text);
  };
  const auto self = std::filesystem::read_symlink(this_program).string();
  const auto small = size_of(this_program);
  CHECK(small > 0);
  CHECK(small * 5 < size_of(self));
  // Who is this program itself needs it as its guard.
  keep listener;
  process_request request;
  request.command = {this_program, "--help"};
  request.folder = folder.path();
  const auto end = run_process(request, listener, {});
  REQUIRE(end);
  CHECK(end->exit_code == 0);
  CHECK(listener.text.find("usage:") != std::string::npos);
}

TEST_CASE("a guard that is killed makes the end unknown, not a hang") {
  struct ignore final : process_listener {
    void on_output(output_stream, std::string_view) override {}
  } listener;
  const temp_folder folder;
  process_request request;
  request.command = {"sh", "-c", "kill -KILL $PPID; while :; do :; done"};
  request.folder = folder.path();
  request.environment = {"PATH=/usr/bin:/bin"};
  request.space = pid_space::shared;
  const auto end = run_process(request, listener, {});
  REQUIRE_FALSE(end);
  CHECK(end.error().code == errc::interrupted);
  // What it means for who reads it, in no words of ours.
  const auto& why = end.error().message;
  CHECK(why.find("how far it came is unknown: look at") != why.npos);
  CHECK(why.find("guard") == why.npos);
}

TEST_CASE("a program that is not there is a failure with its name") {
  struct ignore final : process_listener {
    void on_output(output_stream, std::string_view) override {}
  } listener;
  process_request request;
  request.command = {"no-such-program"};
  request.folder = "/";
  const auto end = run_process(request, listener, {});
  REQUIRE_FALSE(end);
  CHECK(end.error().message ==
        "cannot start no-such-program: No such file or directory");
  request.command = {"true"};
  request.guard_program = "/no/such/guard";
  CHECK_FALSE(run_process(request, listener, {}));
}

TEST_CASE("an order that comes too late loses no report of a guard") {
  struct ignore final : process_listener {
    void on_output(output_stream, std::string_view) override {}
  } listener;
  const temp_folder folder;
  process_request request;
  request.command = {"true"};
  request.folder = folder.path();
  request.environment = {"PATH=/usr/bin:/bin"};
  request.space = pid_space::shared;
  request.lease = std::make_shared<lease>(steady_clock::now() + 1h);
  for (int i = 0; i < 200; ++i) {
    const auto end = run_process(request, listener, {});
    INFO(i);
    REQUIRE(end);
    REQUIRE(end->exit_code == 0);
  }
}
