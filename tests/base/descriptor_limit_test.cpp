// SPDX-License-Identifier: MIT
#include "runtime/base/descriptor_limit.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace {

rlim_t limit_of(pid_t process) {
  rlimit x{};
  return ::prlimit(process, RLIMIT_NOFILE, nullptr, &x) == 0 ? x.rlim_cur : 0;
}

/// In a process of its own; 0: all is well, else which step is not.
int raise_and_restore() {
  rlimit x{};
  ::getrlimit(RLIMIT_NOFILE, &x);
  x.rlim_max = 600;
  x.rlim_cur = 64;
  if (::setrlimit(RLIMIT_NOFILE, &x) != 0) return 1;
  if (riffle::raise_descriptor_limit(50) != 64) return 2;
  if (riffle::raise_descriptor_limit(500) != 500) return 3;
  if (riffle::raise_descriptor_limit(10'000) != 600) return 4;
  if (limit_of(::getpid()) != 600) return 5;
  const auto child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  riffle::restore_descriptor_limit(child);
  const auto its = limit_of(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (its != 64) return 6;
  return limit_of(::getpid()) == 600 ? 0 : 7;
}

}  // namespace

TEST_CASE("a process takes the files that it may have, its children do not") {
  const auto process = ::fork();
  if (process == 0) ::_exit(raise_and_restore());
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
