// SPDX-License-Identifier: MIT
#include "tools/process/guard_launch.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/process/pid_space.hpp"

namespace riffle::tools {

namespace {

void tell(int pipe, const guard_report& x) {
  const auto ignored = ::write(pipe, &x, sizeof(x));
  static_cast<void>(ignored);
}

/// The first process of a namespace. No signal from within ends or stops it;
/// when it ends, so does all that is left.
[[noreturn]] void run_init(launch tool, int status, uid_t user, gid_t group) {
  const auto failure = settle_in_space(user, group, status);
  if (failure.number != 0) {
    tell(tool.report, {guard_report::what::no_space, failure.number,
                       static_cast<int>(failure.step)});
    ::_exit(127);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NAME, "riffle-init");
  tool.parent = ::getpid();
  const auto main = ::fork();
  if (main == 0) tool.run();
  if (main < 0) tool.fail(guard_report::what::not_started);
  ::close(tool.report);
  let_go();
  for (;;) {
    int how = 0;
    const auto pid = ::waitpid(-1, &how, 0);
    if (pid == main) tell(status, {guard_report::what::ended, how, 0});
    if (pid < 0 && errno == ECHILD) ::_exit(0);
  }
}

}  // namespace

void launch::run() const {
  ::setsid();  // `kill 0` of a tool must not reach the guard
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir(folder) != 0) fail(guard_report::what::no_folder);
  ::execvp(command[0], command);
  fail(guard_report::what::not_started);
}

void launch::fail(guard_report::what kind) const {
  tell(report, {kind, errno, 0});
  ::_exit(127);
}

pid_t fork_init(const launch& tool, int status, int (&ends_of_guard)[2]) {
  const auto user = ::geteuid();  // unknown in there until it is mapped
  const auto group = ::getegid();
  const auto init = fork_into_space();
  if (init != 0) return init;
  for (const int fd :
       {ends_of_guard[0], ends_of_guard[1], guard_channel, guard_lock})
    ::close(fd);
  run_init(tool, status, user, group);
}

void let_go() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {0, 1, 2})
    if (::dup2(null, fd) < 0) ::close(fd);
  if (null > 2) ::close(null);
  const auto ignored = ::chdir("/");
  static_cast<void>(ignored);
}

}  // namespace riffle::tools
