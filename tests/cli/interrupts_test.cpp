// SPDX-License-Identifier: MIT
// Signals are sent to a child process, which reports by its exit status.
#include "runtime/cli/terminal/interrupts.hpp"

#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace riffle::cli;

namespace {

constexpr int not_told = 90;

/// The exit status of a child that runs `body`; 200 and more: a signal.
int in_child(const std::function<int()>& body) {
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::signal(SIGTERM, SIG_DFL);  // the test program has its own handler
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

/// Sends `signals`; 0 if the handler was told of `expected`.
int told_of(const std::string& expected, std::initializer_list<int> signals) {
  interrupts x;
  std::promise<std::string> told;
  x.on_stop([&](const char* by) { told.set_value(by); });
  for (const int signal : signals) ::raise(signal);
  auto result = told.get_future();
  if (result.wait_for(std::chrono::seconds{10}) != std::future_status::ready) {
    return not_told;
  }
  return result.get() == expected && x.asked_to_stop() ? 0 : 1;
}

}  // namespace

TEST_CASE("the first Ctrl-C or SIGTERM asks for an end") {
  CHECK(in_child([] { return told_of("Ctrl-C", {SIGINT}); }) == 0);
  CHECK(in_child([] { return told_of("SIGTERM", {SIGTERM}); }) == 0);
}

TEST_CASE("SIGHUP asks for an end, unless it was ignored before") {
  CHECK(in_child([] { return told_of("SIGHUP", {SIGHUP}); }) == 0);
  CHECK(in_child([] { return told_of("SIGHUP", {SIGHUP, SIGHUP}); }) == 0);
  CHECK(in_child([] {
          ::signal(SIGHUP, SIG_IGN);  // nohup
          return told_of("SIGTERM", {SIGHUP, SIGTERM});
        }) == 0);
}

TEST_CASE("a second SIGTERM changes nothing") {
  CHECK(in_child([] { return told_of("SIGTERM", {SIGTERM, SIGTERM}); }) == 0);
  CHECK(in_child([] { return told_of("Ctrl-C", {SIGINT, SIGTERM}); }) == 0);
}

TEST_CASE("a SIGTERM behind a Ctrl-C means the whole program") {
  CHECK(in_child([] {
          const interrupts x;
          ::raise(SIGINT);
          if (!x.asked_to_stop() || x.asked_to_leave()) return 1;
          ::raise(SIGTERM);
          return x.asked_to_leave() ? 0 : 2;
        }) == 0);
}

TEST_CASE("a second Ctrl-C ends the process at once") {
  CHECK(in_child([] { return told_of("", {SIGINT, SIGINT}); }) == 130);
  CHECK(in_child([] { return told_of("", {SIGTERM, SIGINT}); }) == 130);
}

TEST_CASE("a signal that came before anybody listened is told") {
  CHECK(in_child([] {
          interrupts x;
          ::raise(SIGINT);
          int told = 0;
          x.on_stop([&](const char*) { ++told; });
          x.on_stop([&](const char*) { ++told; });
          return told == 1 ? 0 : not_told;
        }) == 0);
}

TEST_CASE("nobody is told after the listener was taken back") {
  CHECK(in_child([] {
          int told = 0;
          {
            interrupts x;
            x.on_stop([&](const char*) { ++told; });
            x.on_stop({});
            ::raise(SIGINT);
          }
          return told == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("signals work as before when it is gone") {
  CHECK(in_child([] {
          {
            const interrupts x;
          }
          ::raise(SIGTERM);
          return 0;
        }) == 200 + SIGTERM);
}

TEST_CASE("a closed pipe does not end the process, nor its children's way") {
  CHECK(in_child([] {
          const interrupts x;
          std::array<int, 2> ends{};
          if (::pipe(ends.data()) != 0) return 1;
          ::close(ends[0]);
          if (::write(ends[1], "x", 1) != -1) return 2;
          // A child program must die of SIGPIPE as usual.
          const auto child = ::fork();
          if (child == 0) {
            ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 3",
                    static_cast<char*>(nullptr));
            ::_exit(4);
          }
          int status = 0;
          if (::waitpid(child, &status, 0) != child) return 5;
          return WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE ? 0 : 6;
        }) == 0);
}
