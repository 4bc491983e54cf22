// SPDX-License-Identifier: MIT
// The runtime's side: asks a guard program, once.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/process/pid_space.hpp"
#include "tools/process/small_guard.hpp"

namespace riffle::tools {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_probe{10'000};

/// What it says on its standard output; empty if it says nothing in time.
std::string answer_of(int fd) {
  std::string out;
  std::array<char, 512> buffer{};
  pollfd ready{fd, POLLIN, 0};
  while (::poll(&ready, 1, static_cast<int>(longest_probe.count())) > 0) {
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return out;
}

/// Empty: the program could not be asked, which may be different next time.
std::string ask(const std::string& guard_program) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const unique_fd in{ends[0]};
  unique_fd out{ends[1]};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  pid_t pid = -1;
  const auto number =
      spawn_guard(pid, {.program = guard_program,
                        .arguments = {"riffle-guard", space_probe_argument},
                        .actions = &actions});
  ::posix_spawn_file_actions_destroy(&actions);
  if (number != 0) return {};
  out.reset();
  auto answer = answer_of(in.get());
  ::kill(pid, SIGKILL);  // it has said all, or hangs
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace

space_support supported_space(const std::string& guard_program) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, uid_t>, space_support> known;
  const std::lock_guard lock{mutex};
  const std::pair key{guard_program, ::geteuid()};
  if (const auto found = known.find(key); found != known.end())
    return found->second;
  const auto begin = steady_clock::now();
  auto answer = ask(guard_program);
  const bool hung = steady_clock::now() - begin >= longest_probe;
  if (answer.empty() && !hung && stands_in_for(guard_program)) {
    give_up_small_guard();  // that may be its fault
    answer = ask(guard_program);
  }
  if (answer.empty()) {
    log_warn("process.space",
             "commands run without a PID namespace of their own, as the "
             "guard's program does not answer; it is asked again at the next");
    return {false, "the guard's program does not answer"};
  }
  const auto& found =
      known.emplace(key, space_support{answer == "usable", answer})
          .first->second;
  log_info(
      "process.space",
      found.usable
          ? "commands run in a PID namespace of their own"
          : "commands run without a PID namespace of their own: " + found.why);
  return found;
}

}  // namespace riffle::tools
