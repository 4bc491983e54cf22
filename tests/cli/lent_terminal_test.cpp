// SPDX-License-Identifier: MIT
// What a program leaves of the terminal that it had from a conversation, and
// how that ends where nobody reads it.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

namespace {

constexpr auto at_prompt = "\x1b[?2004h";

struct place {
  place() {
    folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

/// A program of this name takes the terminal as an editor does, and `then` goes
/// on so.
void make_vi(const place& at, const std::string& then) {
  at.folder.write("vi",
                  "#!/bin/sh\nprintf '\\033[?1049h'\nstty raw -echo\n"
                  "touch begun\n" +
                      then + "\n");
  std::filesystem::permissions(at.folder.path() / "vi",
                               std::filesystem::perms::owner_all);
}

/// A shell that keeps how the terminal is set before and behind a conversation,
/// and the conversation's process id.
std::vector<std::string> shell_around() {
  return {"-c",
          "PATH=\"$PWD:$PATH\"; stty -g > before; sh -c 'echo $$ > pid; "
          "exec \"" +
              terminal_program::built().string() +
              "\" chat --no-color'; echo \"status $?\"; stty -g > "
              "behind"};
}

}  // namespace

TEST_CASE("a signal while a program has the terminal leaves it as it was") {
  if (!has_terminals()) return skip(no_terminals);
  const int signal = GENERATE(SIGTERM, SIGHUP);
  const bool stays = GENERATE(false, true);
  CAPTURE(signal, stays);
  const place here;
  make_vi(here, std::string{stays ? "trap '' TERM; " : ""} + "exec sleep 60");
  terminal_program at{here.folder.path(), shell_around(), 110, "xterm", "",
                      "/bin/sh"};
  REQUIRE(at.read_next(at_prompt));
  at.type("!vi x\r");
  REQUIRE(eventually(
      [&] { return std::filesystem::exists(here.folder.path() / "begun"); }));
  ::kill(static_cast<pid_t>(std::stol(here.text_of("pid"))), signal);
  CHECK(at.finish() == 0);
  CHECK_THAT(at.written(), Contains("\x1b[?1049l"));
  CHECK_THAT(at.written(), Contains("status 130\r\n"));
  CHECK(here.text_of("behind") == here.text_of("before"));
}

TEST_CASE("behind a program that was killed the terminal is as it was") {
  if (!has_terminals()) return skip(no_terminals);
  const place here;
  make_vi(here, "kill -9 $$");
  terminal_program at{here.folder.path(), shell_around(), 110, "xterm", "",
                      "/bin/sh"};
  REQUIRE(at.read_next(at_prompt));
  at.type("!vi x\r");
  REQUIRE(at.read_next("\x1b[?1049h"));
  REQUIRE(at.read_next("\x1b[?1000l"));
  REQUIRE(at.read_next("\x1b[?1049l"));
  REQUIRE(at.read_next("exit status 137\r\nThe model is told"));
  REQUIRE(at.read_next(at_prompt));
  at.type("\x04");
  CHECK(at.finish() == 0);
  CHECK(here.text_of("behind") == here.text_of("before"));
}

TEST_CASE("what ended in order has left the screen by itself") {
  if (!has_terminals()) return skip(no_terminals);
  const place here;
  make_vi(here, "printf '\\033[?1049l'; exit 1");
  terminal_program at{here.folder.path(), shell_around(), 110, "xterm", "",
                      "/bin/sh"};
  REQUIRE(at.read_next(at_prompt));
  at.type("!vi x\r");
  REQUIRE(at.read_next("exit status 1\r\nThe model is told"));
  REQUIRE(at.read_next(at_prompt));
  at.type("\x04");
  CHECK(at.finish() == 0);
  CHECK_THAT(at.written(), !Contains("\x1b[?1000l"));
}

TEST_CASE("a signal ends a conversation although nobody reads its terminal") {
  if (!has_terminals()) return skip(no_terminals);
  const int signal = GENERATE(SIGTERM, SIGHUP);
  CAPTURE(signal);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next(at_prompt));
  const auto before = at.bytes_written();
  at.type("!yes abcdefgh | head -c 10000000\r");
  constexpr std::size_t some = 10'000;  // more than it takes unread
  REQUIRE(eventually([&] { return at.bytes_written() > before + some; }));
  at.signal(signal);
  CHECK(at.end_unread() == 130);
}
