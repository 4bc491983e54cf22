// SPDX-License-Identifier: MIT
#include "runtime/service/git_state.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/shell/read_call.hpp"

extern char** environ;

namespace riffle::service {

namespace {

using clock = std::chrono::steady_clock;

std::vector<char*> pointers_to(std::vector<std::string>& all) {
  std::vector<char*> out;
  for (auto& x : all) out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

/// In a process group of its own; -1: it could not be started.
pid_t start_git(tools::read_call& call, const std::string& folder, int out) {
  // Filters of this user's own configuration would be programs, too.
  call.environment.emplace_back("GIT_CONFIG_GLOBAL=/dev/null");
  call.environment.emplace_back("GIT_CONFIG_NOSYSTEM=1");
  posix_spawnattr_t how{};
  posix_spawn_file_actions_t actions{};
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
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

/// Whether it ends well by then; it has ended behind this.
bool ends_well(pid_t pid, clock::time_point until) {
  constexpr auto look = std::chrono::milliseconds{1};
  int status = 0;
  bool killed = false;
  for (;;) {
    const auto done = ::waitpid(pid, &status, killed ? 0 : WNOHANG);
    if (done == pid)
      return !killed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (done < 0 && errno != EINTR) return false;
    if (done != 0) continue;
    if (clock::now() >= until) {
      ::kill(-pid, SIGKILL);
      killed = true;
    } else {
      std::this_thread::sleep_for(look);
    }
  }
}

}  // namespace

std::optional<bool> has_changes(const std::filesystem::path& root,
                                duration limit) {
  std::vector<std::string> settings;
  for (char** x = environ; x != nullptr && *x != nullptr; ++x)
    settings.emplace_back(*x);
  auto call =
      tools::make_read_call("git status --porcelain --untracked-files=no",
                            {"git status"}, root, settings);
  if (!call) return std::nullopt;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const unique_fd read_end{ends[0]};
  unique_fd write_end{ends[1]};
  const auto until = clock::now() + limit;
  const auto pid = start_git(*call, root.string(), write_end.get());
  write_end = unique_fd{};
  if (pid < 0) return std::nullopt;
  const auto found = writes(read_end.get(), until);
  // What it would still name changes nothing.
  const bool good = ends_well(pid, found == false ? until : clock::now());
  if (found == false && !good) return std::nullopt;
  return found;
}

}  // namespace riffle::service
