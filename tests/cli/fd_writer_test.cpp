// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/fd_writer.hpp"

#include <array>
#include <fcntl.h>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "runtime/cli/terminal/interrupts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"

using namespace riffle::cli;

namespace {

struct pipe_ends {
  pipe_ends() { REQUIRE(::pipe2(fds.data(), O_CLOEXEC) == 0); }
  ~pipe_ends() {
    for (const int fd : fds) {
      if (fd >= 0) ::close(fd);
    }
  }
  std::array<int, 2> fds{-1, -1};
};

std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(fd, piece.data(), piece.size())) > 0;) {
    out.append(piece.data(), static_cast<std::size_t>(n));
  }
  return out;
}

}  // namespace

TEST_CASE("a text larger than a pipe arrives whole at a slow reader") {
  for (const bool blocking : {true, false}) {
    pipe_ends ends;
    if (!blocking) ::fcntl(ends.fds[1], F_SETFL, O_NONBLOCK);
    const std::string text(300'000, 'x');
    std::string got;
    std::thread reader{[&] { got = read_all(ends.fds[0]); }};
    fd_writer writer{ends.fds[1]};
    CHECK(writer.write(text));
    ::close(ends.fds[1]);
    ends.fds[1] = -1;
    reader.join();
    CHECK(got == text);
    CHECK(writer.good());
    CHECK(writer.problem().empty());
  }
}

TEST_CASE("a reader that went away is no problem to tell of") {
  const interrupts catches_sigpipe;
  pipe_ends ends;
  ::close(ends.fds[0]);
  ends.fds[0] = -1;
  fd_writer writer{ends.fds[1]};
  CHECK_FALSE(writer.write("x"));
  CHECK(writer.closed());
  CHECK_FALSE(writer.good());
  CHECK(writer.problem().empty());
  CHECK_FALSE(writer.write(""));
}

TEST_CASE("a reader that takes nothing is given up when it is time") {
  for (const bool blocking : {true, false}) {
    pipe_ends ends;
    if (!blocking) ::fcntl(ends.fds[1], F_SETFL, O_NONBLOCK);
    fd_writer writer{ends.fds[1]};
    int asked = 0;
    writer.give_up_if([&](fd_writer::milliseconds) { return ++asked == 2; });
    CHECK(writer.write("x"));
    CHECK(asked == 0);
    CHECK_FALSE(writer.write(std::string(300'000, 'x')));
    CHECK(asked == 2);
    CHECK_FALSE(writer.closed());
    CHECK(writer.problem() == "nobody reads it");
    CHECK_FALSE(writer.write("y"));
  }
}

TEST_CASE("a terminal that nobody reads is given up, too") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  pipe_ends ends;
  for (const int fd : ends.fds) ::close(fd);
  REQUIRE(::openpty(&ends.fds[0], &ends.fds[1], nullptr, nullptr, nullptr) ==
          0);
  fd_writer writer{ends.fds[1]};
  constexpr fd_writer::milliseconds longest{200};
  CHECK_FALSE(writer.give_up_if(
      [&](fd_writer::milliseconds silent) { return silent >= longest; }));
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "a line\n";
  CHECK_FALSE(writer.write(lines));
  CHECK(writer.problem() == "nobody reads it");
  // Others write there as they did.
  CHECK((::fcntl(ends.fds[1], F_GETFL) & O_NONBLOCK) == 0);
  CHECK(writer.give_up_if({}));
}

// For ThreadSanitizer: lines of the log come from any thread.
TEST_CASE("who waits for a reader may change while another thread writes") {
  pipe_ends ends;
  fd_writer writer{ends.fds[1]};
  std::string got;
  std::thread reader{[&] { got = read_all(ends.fds[0]); }};
  constexpr int many = 2000;
  std::thread log{[&] {
    for (int i = 0; i < many; ++i) writer.write("a line\n");
  }};
  for (int i = 0; i < many; ++i) {
    writer.give_up_if([i](fd_writer::milliseconds) { return i < 0; });
    writer.give_up_if({});
    CHECK(writer.good());
  }
  log.join();
  ::close(ends.fds[1]);
  ends.fds[1] = -1;
  reader.join();
  CHECK(got.size() == many * std::string{"a line\n"}.size());
}

TEST_CASE("a full disk is a problem with a name") {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  fd_writer writer{fd};
  CHECK_FALSE(writer.write("x"));
  CHECK_FALSE(writer.closed());
  CHECK(writer.problem() == "No space left on device");
  ::close(fd);
}

TEST_CASE("closed standard descriptors are taken, and cannot be written") {
  const auto child = ::fork();
  if (child == 0) {
    ::close(0);
    ::close(1);
    open_standard_descriptors();
    const int next = ::open("/dev/null", O_RDONLY);
    const bool refused = ::write(1, "x", 1) == -1;
    char byte = 0;
    const bool unread = ::read(0, &byte, 1) == -1;
    ::_exit(next > 2 && refused && unread ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
