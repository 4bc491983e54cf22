// SPDX-License-Identifier: MIT
#include "runtime/base/file_limit.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

TEST_CASE("a write beyond the file size limit fails and ends nothing") {
  const auto child = ::fork();
  if (child == 0) {
    char name[] = "/tmp/riffle-limit-XXXXXX";
    const int fd = ::mkstemp(name);
    ::unlink(name);
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    riffle::outlive_file_limit();
    const char text[100] = {};
    if (::write(fd, text, sizeof(text)) != 10) ::_exit(1);
    ::_exit(::write(fd, text, sizeof(text)) < 0 && errno == EFBIG ? 0 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
