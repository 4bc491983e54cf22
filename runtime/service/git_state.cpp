// SPDX-License-Identifier: MIT
#include "runtime/service/git_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/base/secrets.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/shell/read_call.hpp"

namespace riffle::service {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

std::vector<char*> pointers_to(std::vector<std::string>& all) {
  std::vector<char*> out;
  for (auto& x : all) out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

/// What git needs of this process's environment. The rest may hold keys, and
/// is none of its business.
std::vector<std::string> needed_environment() {
  constexpr std::array needed = {"PATH=",
                                 "HOME=",
                                 "LANG=",
                                 "LANGUAGE=",
                                 "LC_",
                                 "TZ=",
                                 "TMPDIR=",
                                 "XDG_CONFIG_HOME=",
                                 "LD_LIBRARY_PATH="};
  std::vector<std::string> out;
  for (auto& entry : environment_without_keys())
    if (std::ranges::any_of(
            needed, [&](const char* x) { return entry.starts_with(x); }))
      out.push_back(std::move(entry));
  return out;
}

/// In a process group of its own; -1: it could not be started.
pid_t start_git(tools::read_call& call, const std::string& folder, int out) {
  // Filters of this user's own configuration would be programs, too.
  call.environment.emplace_back("GIT_CONFIG_GLOBAL=/dev/null");
  call.environment.emplace_back("GIT_CONFIG_NOSYSTEM=1");
  posix_spawnattr_t how{};
  posix_spawn_file_actions_t actions{};
  sigset_t none{};
  ::sigemptyset(&none);
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const auto words = pointers_to(call.command);
  const auto settings = pointers_to(call.environment);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, words[0], &actions, &how, words.data(),
                                   settings.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&how);
  return failed == 0 ? pid : -1;
}

/// Whether it writes something; nothing: it did neither that nor end in time.
std::optional<bool> writes(int fd, clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int n = left.count() > 0
                      ? ::poll(&ready, 1, static_cast<int>(left.count()))
                      : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    std::array<char, 64> piece{};
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    return got < 0 ? std::nullopt : std::optional{got > 0};
  }
}

/// Of a process that has not been waited for.
enum class git_end { good, bad, late };

git_end wait_until(pid_t pid, clock::time_point until) {
  constexpr auto look = std::chrono::milliseconds{1};
  for (;;) {
    int status = 0;
    const auto done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? git_end::good
                                                           : git_end::bad;
    if (done < 0 && errno != EINTR) return git_end::bad;
    if (clock::now() >= until) return git_end::late;
    std::this_thread::sleep_for(look);
  }
}

/// However long that takes: one that hangs on a file system of another machine
/// does not end when it is killed.
void reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

struct said {
  std::optional<bool> changed{};
  bool late = false;
};

/// What one thread finds and another one waits for.
class answer_box {
 public:
  void put(said x) {
    {
      const std::lock_guard lock{mutex_};
      if (!said_) said_ = x;
    }
    ready_.notify_all();
  }
  said wait(clock::time_point until) {
    std::unique_lock lock{mutex_};
    ready_.wait_until(lock, until, [&] { return said_.has_value(); });
    return said_.value_or(said{{}, true});
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<said> said_;
};

/// Puts it there as soon as it is known, and returns when git has ended.
void ask_git(const fs::path& root, const std::vector<std::string>& settings,
             clock::time_point until, answer_box& to) {
  auto call =
      tools::make_read_call("git status --porcelain --untracked-files=no",
                            {"git status"}, root, settings);
  std::array<int, 2> ends{};
  if (!call || ::pipe2(ends.data(), O_CLOEXEC) != 0) return to.put({});
  const unique_fd read_end{ends[0]};
  unique_fd write_end{ends[1]};
  const auto pid = start_git(*call, root.string(), write_end.get());
  write_end = unique_fd{};
  if (pid < 0) return to.put({});
  const auto changed = writes(read_end.get(), until);
  if (changed) {
    // What it would still name changes nothing.
    const auto how = *changed ? git_end::late : wait_until(pid, until);
    if (*changed || how == git_end::good) to.put({changed});
    if (how == git_end::bad) to.put({});
    if (how != git_end::late) return;
  }
  to.put({{}, true});  // unless it is known
  reap(pid);
}

/// This thread waits no longer than that, whatever hangs.
said changes_by(const fs::path& root, clock::time_point until) {
  const auto box = std::make_shared<answer_box>();
  // Read here: nobody changes it beside this thread.
  auto work = [box, root, until, settings = needed_environment()] {
    ask_git(root, settings, until, *box);
  };
  // Signals are for the threads that expect them.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread{std::move(work)}.detach();
  } catch (const std::system_error&) {
    box->put({});
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return box->wait(until);
}

struct memory {
  std::mutex mutex;
  std::map<fs::path, said> all;
};

memory& remembered() {
  static memory out;
  return out;
}

said last_said(const fs::path& root) {
  auto& x = remembered();
  const std::lock_guard lock{x.mutex};
  const auto found = x.all.find(root);
  return found == x.all.end() ? said{} : found->second;
}

}  // namespace

std::optional<bool> has_changes(const fs::path& root, duration limit) {
  return changes_by(root, clock::now() + limit).changed;
}

std::optional<bool> told_changes(const fs::path& root, duration limit) {
  if (last_said(root).late) return std::nullopt;
  const auto now = changes_by(root, clock::now() + limit);
  auto& x = remembered();
  const std::lock_guard lock{x.mutex};
  x.all[root] = now;
  return now.changed;
}

std::optional<bool> known_changes(const fs::path& root) {
  return last_said(root).changed;
}

}  // namespace riffle::service
