// SPDX-License-Identifier: MIT
// Conversations and questions that are stopped, ended, or silent.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

constexpr auto question = "[?] > ";

struct odd_place {
  explicit odd_place(const std::string& call) {
    folder.write("s.toml", "[[steps]]\n[[steps.calls]]\n" + call +
                               "[[steps]]\ntext = \"It is done.\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] bool is_made() const {
    return std::filesystem::exists(folder.path() / "made");
  }
  temp_folder folder;
};

// What the model says comes in pieces, between which rows may be drawn: its
// last word is looked for.
constexpr auto writes_it =
    "tool = \"write\"\narguments = { path = \"made\", content = \"x\" }\n";

}  // namespace

TEST_CASE("a question of a quiet conversation is answered by a key") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{writes_it};
  terminal_program riffle{at.folder.path(), {"chat", "-q", "--no-color"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next(question));
  riffle.answer("y");
  REQUIRE(riffle.read_next(" done."));
  CHECK(at.is_made());
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("behind Ctrl-Z and fg a question stands there, and takes keys") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const bool chats = GENERATE(true, false);
  CAPTURE(chats);
  const odd_place at{writes_it};
  terminal_program riffle{
      at.folder.path(),
      chats ? std::vector<std::string>{"chat", "--no-color"}
            : std::vector<std::string>{"run", "--no-color", "go"},
      80};
  if (chats) {
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type("go\r");
  }
  REQUIRE(riffle.read_next(question));
  riffle.stop_and_go_on();
  REQUIRE(riffle.read_next("[APPROVAL] write"));
  REQUIRE(riffle.read_next(question));
  riffle.answer("y");
  REQUIRE(riffle.read_next(" done."));
  CHECK(at.is_made());
  if (chats) riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("keys that came together with fg answer no question") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const bool chats = GENERATE(true, false);
  CAPTURE(chats);
  const odd_place at{writes_it};
  terminal_program riffle{
      at.folder.path(),
      chats ? std::vector<std::string>{"chat", "--no-color"}
            : std::vector<std::string>{"run", "--no-color", "go"},
      80};
  if (chats) {
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type("go\r");
  }
  REQUIRE(riffle.read_next(question));
  for (int i = 0; i < 3; ++i) {
    riffle.answer("");  // as somebody who has read it
    riffle.stop_and_go_on("y");
    REQUIRE(riffle.read_next("[APPROVAL] write"));
    REQUIRE(riffle.read_next(question));
  }
  riffle.answer("");
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  REQUIRE(riffle.read_next(" done."));
  CHECK_FALSE(at.is_made());
  if (chats) riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a key that came together with Ctrl-Z answers no question") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const bool chats = GENERATE(true, false);
  CAPTURE(chats);
  const odd_place at{writes_it};
  terminal_program riffle{
      at.folder.path(),
      chats ? std::vector<std::string>{"chat", "--no-color"}
            : std::vector<std::string>{"run", "--no-color", "go"},
      80};
  if (chats) {
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type("go\r");
  }
  REQUIRE(riffle.read_next(question));
  for (int i = 0; i < 5; ++i) {
    riffle.answer("");  // as somebody who has read it
    riffle.type("\x1ay");
    REQUIRE(riffle.read_next("[APPROVAL] write"));
    REQUIRE(riffle.read_next(question));
  }
  riffle.answer("");
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  REQUIRE(riffle.read_next(" done."));
  CHECK_FALSE(at.is_made());
  if (chats) riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("an Enter that came together with fg ends no reason") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{writes_it};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 80};
  REQUIRE(riffle.read_next(question));
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.stop_and_go_on("not\n");
  REQUIRE(riffle.read_next("> not"));
  riffle.answer(" yet");
  REQUIRE(riffle.read_next("> not yet"));
  riffle.type("\r");
  REQUIRE(riffle.read_next(" done."));
  CHECK_FALSE(at.is_made());
  CHECK(riffle.finish() == 0);
}

TEST_CASE("who went to the input line by Tab is there behind fg, too") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{writes_it};
  terminal_program riffle{at.folder.path(), {"chat", "--no-color"}, 120};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next(question));
  riffle.answer("\t");
  REQUIRE(riffle.read_next("keys go to the line below"));
  riffle.stop_and_go_on();
  REQUIRE(riffle.read_next("[APPROVAL] write"));
  REQUIRE(riffle.read_next("keys go to the line below"));
  riffle.answer("yes but");
  REQUIRE(riffle.read_next("> yes but"));
  riffle.answer("\t");
  REQUIRE(riffle.read_next(question));
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  REQUIRE(riffle.read_next(" done."));
  CHECK_FALSE(at.is_made());
  REQUIRE(riffle.read_next("> yes but"));  // it stands at the prompt
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a line that came together with fg answers no question, either") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{writes_it};
  terminal_program riffle{at.folder.path(), {"run", "go"}, 80, "dumb"};
  REQUIRE(riffle.read_next(question));
  for (int i = 0; i < 3; ++i) {
    riffle.stop_and_go_on("y\n");
    REQUIRE(riffle.read_next(question));
  }
  riffle.type("n not yet\n");
  REQUIRE(riffle.read_next(" done."));
  CHECK_FALSE(at.is_made());
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a signal that ends programs ends a conversation with its run") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{
      "tool = \"bash\"\narguments = { command = \"touch made; sleep 60\" }\n"};
  terminal_program riffle{
      at.folder.path(), {"chat", "--no-color", "--approve", "all"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next("Running: touch made"));
  riffle.signal(SIGTERM);
  CHECK(riffle.finish() == 130);
}

TEST_CASE("a signal that ends a quiet conversation is its exit status") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{"tool = \"read\"\narguments = { path = \"s.toml\" }\n"};
  const int signal = GENERATE(SIGTERM, SIGHUP);
  const bool talked = GENERATE(false, true);
  CAPTURE(signal, talked);
  terminal_program riffle{at.folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  if (talked) {
    riffle.type("go\r");
    REQUIRE(riffle.read_next(" done."));
    REQUIRE(riffle.read_next("> "));
  }
  riffle.signal(signal);
  CHECK(riffle.finish() == 130);
}

TEST_CASE("Ctrl-Z leaves no line that is drawn over to the shell") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{
      "tool = \"bash\"\narguments = { command = \"until test -e go; do "
      "sleep 0.05; done\" }\n"};
  terminal_program riffle{
      at.folder.path(), {"chat", "--no-color", "--approve", "all"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next("Running: until"));
  // Nobody looks after this terminal's jobs: it goes on at once.
  riffle.signal(SIGTSTP);
  REQUIRE(riffle.read_next("\x1b[?2004l"));
  const auto before = riffle.written().rfind("\x1b[?2004l");
  const auto drawn = riffle.written().rfind("Running: until", before);
  CHECK(riffle.written().find("\x1b[J", drawn) < before);
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  REQUIRE(riffle.read_next("Running: until"));
  at.folder.write("go", "");
  REQUIRE(riffle.read_next(" done."));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a shell stops a conversation at each place, and goes on with it") {
  const char* const shell = "/bin/bash";
  if (!riffle::testing::has_terminals() || ::access(shell, X_OK) != 0)
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{
      "tool = \"bash\"\narguments = { command = \"until test -e go; do "
      "sleep 0.05; done\" }\n"};
  terminal_program bash{at.folder.path(),
                        {"--norc", "--noprofile", "--noediting", "-i"},
                        100,
                        "xterm",
                        "",
                        shell};
  // What is typed is echoed; only what is run has it in one piece.
  bash.type("PS1=SH'> '\n");
  REQUIRE(bash.read_next("SH> "));
  const auto stopped = [&] {
    bash.type("\x1a");
    REQUIRE(bash.read_next("Stopped"));
    REQUIRE(bash.read_next("SH> "));
    // The title of the window is the shell's again.
    CHECK(bash.written().rfind("\x1b[23;2t") > bash.written().rfind("\x1b]2;"));
    bash.type("fg\n");
  };
  bash.type(terminal_program::built().string() +
            " chat --no-color --approve all\n");
  REQUIRE(bash.read_next("\x1b[?2004h"));
  SECTION("while a run works") {
    bash.type("go\r");
    REQUIRE(bash.read_next("Running: until"));
    stopped();
    REQUIRE(bash.read_next("Running: until"));
    stopped();
    REQUIRE(bash.read_next("Running: until"));
    at.folder.write("go", "");
    REQUIRE(bash.read_next(" done."));
  }
  SECTION("while something is chosen") {
    bash.type("/model\r");
    REQUIRE(bash.read_next("Esc: none"));
    stopped();
    REQUIRE(bash.read_next("Esc: none"));
    bash.type("\r");
    REQUIRE(bash.read_next("model default"));
  }
  bash.type("\x04");
  REQUIRE(bash.read_next("SH> "));
  bash.type("exit\n");
  CHECK(bash.finish() == 0);
}

TEST_CASE("who stops at a question reads what Ctrl-C says, too") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const odd_place at{writes_it};
  terminal_program riffle{at.folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next(question));
  riffle.answer("s");
  REQUIRE(riffle.read_next("Stopped after "));
  REQUIRE(riffle.read_next("Say how to go on."));
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("who is ended by a signal hears how it was, and how to go on") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const bool chats = GENERATE(true, false);
  CAPTURE(chats);
  const odd_place at{
      "tool = \"bash\"\narguments = { command = \"touch made; sleep 60\" }\n"};
  terminal_program riffle{
      at.folder.path(),
      chats ? std::vector<std::string>{"chat", "--no-color", "--approve", "all"}
            : std::vector<std::string>{"run", "--no-color", "--approve", "all",
                                       "go"},
      80};
  if (chats) {
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type("go\r");
  }
  REQUIRE(riffle::testing::eventually([&] { return at.is_made(); }));
  riffle.signal(SIGTERM);
  REQUIRE(riffle.read_next("Stopped by SIGTERM after "));
  REQUIRE(riffle.read_next("Go on: riffle "));
  CHECK(riffle.finish() == 130);
}

TEST_CASE("Ctrl-C ends a conversation's wait for room, and nothing is sent") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  if (std::system("unshare -rm mount -t tmpfs none /mnt") != 0)
    return riffle::testing::skip("no tmpfs can be mounted here (unshare -rm)");
  const odd_place at{"tool = \"read\"\narguments = { path = \"s.toml\" }\n"};
  std::filesystem::create_directory(at.folder.path() / "data");
  const auto line = "mount -t tmpfs -o size=1m,mode=700 none data && exec '" +
                    terminal_program::built().string() + "' chat --no-color";
  terminal_program riffle{
      at.folder.path(),  {"-rm", "/bin/sh", "-c", line}, 120, "xterm", "",
      "/usr/bin/unshare"};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next(" done."));
  REQUIRE(riffle.read_next("> "));
  riffle.type("!dd if=/dev/zero of=data/filler bs=4096; cd data; ls\r");
  REQUIRE(riffle.read_next("No space left"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("two\rthree\r");
  REQUIRE(riffle.read_next("waiting for room"));
  REQUIRE(riffle.read_next("Ctrl-C leaves"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("interrupted while there was no room"));
  REQUIRE(riffle.read_next("> two"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("> three"));  // it waits, too
  riffle.type("\x03!rm data/filler\r/context\r");
  REQUIRE(riffle.read_next("1 run,"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}
