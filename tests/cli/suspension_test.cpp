// SPDX-License-Identifier: MIT
// Ctrl-Z, with real stops: each in a process of its own whose group a parent
// outside of it looks after.
#include "runtime/cli/terminal/suspension.hpp"

#include <csignal>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

using riffle::cli::suspension;

namespace {

/// A child that does `f`, and ends with what it returns.
template <class F>
pid_t begun(F f) {
  const auto pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  ::signal(SIGTSTP, SIG_DFL);
  ::_exit(f());
}

/// What stopped it; 0: it ended, or nobody knows.
int stopped_by(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
    return 0;
  return WSTOPSIG(status);
}

/// Its status once it goes on; -1: it did not end by itself.
int goes_on(pid_t pid) {
  ::kill(pid, SIGCONT);
  int status = 0;
  if (::waitpid(pid, &status, WUNTRACED) == pid && WIFEXITED(status))
    return WEXITSTATUS(status);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return -1;
}

}  // namespace

TEST_CASE("a press that was seen stops the process, and is done with") {
  const auto pid = begun([] {
    suspension x;
    ::raise(SIGTSTP);
    if (!x.asked()) return 1;
    x.stop();
    if (x.asked()) return 2;
    ::raise(SIGTSTP);  // the next one is caught again
    x.stop();
    return 0;
  });
  CHECK(stopped_by(pid) == SIGTSTP);
  ::kill(pid, SIGCONT);
  CHECK(stopped_by(pid) == SIGTSTP);
  CHECK(goes_on(pid) == 0);
}

TEST_CASE("a second press stops at once, and not once more behind fg") {
  const auto pid = begun([] {
    const suspension x;
    ::raise(SIGTSTP);
    ::raise(SIGTSTP);
    return x.asked() ? 1 : 0;
  });
  CHECK(stopped_by(pid) == SIGSTOP);
  CHECK(goes_on(pid) == 0);
}

TEST_CASE("a press that nobody saw stops the process in the end") {
  const auto pid = begun([] {
    {
      const suspension x;
      ::raise(SIGTSTP);
    }
    return 0;
  });
  CHECK(stopped_by(pid) == SIGTSTP);
  CHECK(goes_on(pid) == 0);
}
