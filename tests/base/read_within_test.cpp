// SPDX-License-Identifier: MIT
#include "runtime/base/read_within.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "riffle-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

}  // namespace

TEST_CASE("a file is read to its end, up to a limit") {
  const folder x;
  const auto file = x.path / "f";
  std::ofstream{file} << std::string(1000, 'x');
  CHECK(read_within(file, {.bytes = 1000}) == std::string(1000, 'x'));
  CHECK(read_within(file, {.bytes = 999}).error() ==
        "is larger than 999 bytes");
  CHECK(read_within("/dev/zero").error() == "is larger than 1 MiB");
  CHECK(read_within("/dev/null") == "");
}

TEST_CASE("what is no file is said") {
  const folder x;
  CHECK(read_within("").error() == "has no name");
  CHECK(read_within(x.path).error() == "is a folder, not a file");
  CHECK(read_within(x.path / "none").error() ==
        "cannot be read: No such file or directory");
  // Reading it fails after it was opened.
  CHECK(read_within("/proc/self/mem").error() ==
        "cannot be read: Input/output error");
}

TEST_CASE("a pipe that nobody writes to does not hold anybody up") {
  const folder x;
  const auto pipe = x.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_within(pipe, {.time = 20ms}).error() ==
        "did not come to its end within 20 ms");
  // One who writes and never ends.
  const int silent = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::write(silent, "x", 1) == 1);
  CHECK(read_within(pipe, {.time = 20ms}).error() ==
        "did not come to its end within 20 ms");
  ::close(silent);
}

TEST_CASE("a pipe is read until the last writer has closed it") {
  const folder x;
  const auto pipe = x.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::jthread writer{[&] {
    std::ofstream out{pipe};
    out << "one\n" << std::flush << "two\n";
  }};
  CHECK(read_within(pipe, {.time = 60s}) == "one\ntwo\n");
}

TEST_CASE("a pipe without a name is read by that of its descriptor") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "text", 4) == 4);
  ::close(ends[1]);
  CHECK(read_within("/dev/fd/" + std::to_string(ends[0])) == "text");
  CHECK(read_within("/dev/fd/" + std::to_string(ends[0])) == "");
  ::close(ends[0]);
}
