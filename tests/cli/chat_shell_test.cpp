// SPDX-License-Identifier: MIT
// What a person runs by the way in a conversation, and types meanwhile.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "runtime/cli/commands/shell_run.hpp"
#include "runtime/cli/view/shell_text.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace riffle::cli;
using Catch::Matchers::Contains;

namespace {

constexpr auto waits = "!touch b; while [ -e b ]; do sleep 0.05; done";

struct talk {
  explicit talk(const std::string& term = "xterm")
      : riffle{prepared(), {"chat", "--no-color"}, columns, term} {
    REQUIRE(riffle.read_next(term == "dumb" ? "> " : "\x1b[?2004h"));
  }
  const std::filesystem::path& prepared() {
    folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    return folder.path();
  }
  /// Until it works, and has what was typed.
  void begin_command(const std::string& typed, const std::string& seen) {
    riffle.type(std::string{waits} + "\r");
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(folder.path() / "b"); }));
    riffle.type(typed);
    REQUIRE(riffle.read_next(seen));  // its echo
  }
  void end_command() const { std::filesystem::remove(folder.path() / "b"); }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] std::string picture() const {
    terminal_picture out{columns};
    out.feed(riffle.written());
    return out.text();
  }
  int leave() {
    riffle.type("\x04");
    return riffle.finish();
  }

  static constexpr unsigned short columns = 110;
  temp_folder folder;
  terminal_program riffle;
};

}  // namespace

TEST_CASE("what is typed while a command runs is not lost with it") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.begin_command("please look at it\rand th", "and th");
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("exit status 130"));
  REQUIRE(x.riffle.read_next("What you had typed, 2 inputs, waits for your"));
  REQUIRE(x.riffle.read_next("> please look at it"));
  CHECK_THAT(x.text_of("data/history"), Contains("\"please look at it\""));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("You said: please look at it"));
  REQUIRE(x.riffle.read_next("> and th"));
  x.riffle.type("en\r");
  REQUIRE(x.riffle.read_next("You said: and then"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.picture(), Contains("\nexit status 130\n"));
}

TEST_CASE("a paste beside a command that is stopped is one text") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.begin_command("\x1b[200~one\rtwo\x1b[201~", "two");
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("What you had typed waits for your Enter."));
  REQUIRE(x.riffle.read_next("> one"));
  REQUIRE(x.riffle.read_next("  two"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("You said: one\r\ntwo"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
}

TEST_CASE(
    "what may have been meant for a command is sent by no Enter of then") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.begin_command("secret\rand th", "and th");
  x.end_command();
  REQUIRE(x.riffle.read_next("What you had typed, 2 inputs, waits for your"));
  REQUIRE(x.riffle.read_next("> secret"));
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("> and th"));
  x.riffle.type("en\r");
  REQUIRE(x.riffle.read_next("You said: and then"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  const auto all = x.riffle.written();
  CHECK(all.find("You said") == all.rfind("You said"));
}

TEST_CASE("what was typed before a command comes next without an Enter") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("!true\rlook at it\r");
  REQUIRE(x.riffle.read_next("You said: look at it"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
}

TEST_CASE("a cd alone does nothing, and nobody is told that it did") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("!cd data\r");
  REQUIRE(x.riffle.read_next("A cd alone changes nothing: each command has a"));
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  x.riffle.type("/save out.md\r");
  REQUIRE(x.riffle.read_next("saved: out.md"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.text_of("out.md"), !Contains("context"));
}

TEST_CASE("how much of an output the model reads is told where it is much") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("!seq 1 100000\r");
  REQUIRE(
      x.riffle.read_next("The model reads the first and the last 32 KB of "
                         "these 575 KB with your next words"));
  x.riffle.type("!echo little\r");
  REQUIRE(x.riffle.read_next("little\r\n"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  const auto all = x.riffle.written();
  CHECK(all.find("The model reads") == all.rfind("The model reads"));
}

TEST_CASE("each command is on record, with what it wrote") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  for (const std::string word : {"one", "three"}) {
    x.riffle.type("!echo " + word + "\r");
    REQUIRE(x.riffle.read_next(word + "\r\n"));
    REQUIRE(x.riffle.read_next(word + "\r\n"));
    REQUIRE(x.riffle.read_next("> "));
  }
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  x.riffle.type("/save out.md\r");
  REQUIRE(x.riffle.read_next("saved: out.md"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.text_of("out.md"), Contains("\n- [context] !echo one (4 B)\n"
                                           "- [context] !echo three (6 B)\n"));
}

TEST_CASE("what the model is told of commands can be taken apart") {
  const auto first = shell_context("make\ntest", 2, "no\n\nrule\n");
  const auto second = terminal_context("vi a", 137);
  const auto third = shell_context("ls", 0, "");
  const auto all = first + "\n\n" + second + "\n\n" + third;
  const auto one = first_told(all);  // parts of it
  REQUIRE(one);
  CHECK(one->command == "make\ntest");
  CHECK(one->output == "no\n\nrule\n");
  CHECK(one->size == first.size());
  const auto rest = all.substr(one->size + 2);
  const auto two = first_told(rest);
  REQUIRE(two);
  CHECK(two->command == "vi a");
  CHECK(two->size == second.size());
  CHECK(find_told("File a.md:\nx\n\n" + all) == 14);
  CHECK_FALSE(first_told("The user ran this command: he said so"));
  CHECK(find_told("x\n\nThe user ran this command: a\n\n" + third) > 30);
}

TEST_CASE("a command that goes to a folder and does no more is known") {
  for (const auto* x : {"cd", "cd docs", " cd  \"a b\" "})
    CHECK(only_changes_folder(x));
  for (const auto* x : {"cd docs && ls", "cd docs; ls", "cdrecord", "ls",
                        "cd $(make where)", "cd `make where`"})
    CHECK_FALSE(only_changes_folder(x));
}

TEST_CASE("a command that leaves something behind gives the prompt back") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type(
      "!(touch b; while [ -e b ]; do sleep 0.05; done; echo late; echo later; "
      "touch done) & echo started\r");
  REQUIRE(x.riffle.read_next("\nstarted"));
  REQUIRE(x.riffle.read_next("Something that it started works on"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.end_command();
  // It is not ended by what it writes, and nobody sees that.
  REQUIRE(eventually(
      [&] { return std::filesystem::exists(x.folder.path() / "done"); }));
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK_THAT(x.picture(), !Contains("late\n"));
  CHECK(x.leave() == 0);
}

TEST_CASE("a signal that ends programs ends a command with its conversation") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.begin_command("", "");
  SECTION("at once") { x.riffle.signal(SIGTERM); }
  const bool late = GENERATE(true, false);  // it ends behind its shell
  SECTION("also one that does not heed it") {
    x.end_command();
    REQUIRE(x.riffle.read_next("\x1b[?2004h"));
    x.riffle.type(late ? "!(trap 'sleep 0.4; exit' TERM; echo begun; while :; "
                         "do sleep 0.1; done) & wait\r"
                       : "!trap '' INT TERM; echo begun; sleep 60\r");
    REQUIRE(x.riffle.read_next("\nbegun"));
    x.riffle.signal(SIGTERM);
  }
  REQUIRE(x.riffle.read_next("Go on: riffle"));
  CHECK(x.riffle.finish() == 130);
  CHECK_THAT(x.riffle.written(), !Contains("Something that it started"));
}

TEST_CASE("a command that does not heed Ctrl-C is killed by a second one") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.riffle.type(
      "!trap '' INT; sh -c 'echo $$ > pid; echo begun; sleep 60; x'\r");
  REQUIRE(x.riffle.read_next("\nbegun"));
  x.riffle.type("rm it\r\x03");
  REQUIRE(x.riffle.read_next("It is still ending; Ctrl-C again kills it."));
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("exit status 137: it did not end, and was"));
  // With all that it had begun.
  const auto child = std::stoi(x.text_of("pid"));
  REQUIRE(eventually([&] { return ::kill(child, 0) != 0; }));
  REQUIRE(x.riffle.read_next("> rm it"));
  // Then a second one means the program again.
  x.riffle.type("\x03");
  CHECK(x.leave() == 0);
}

TEST_CASE("a command that tidies up behind Ctrl-C has the time for it") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type(
      "!trap 'touch b; while [ -e b ]; do sleep 0.05; done; echo tidy; exit 3' "
      "INT; echo begun; while :; do sleep 0.1; done\r");
  REQUIRE(x.riffle.read_next("\nbegun"));
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("It is still ending"));
  x.end_command();
  REQUIRE(x.riffle.read_next("tidy"));
  REQUIRE(x.riffle.read_next("exit status 3\r\n"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK(x.leave() == 0);
}

TEST_CASE("the end of a program at the terminal is on record as it was") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.folder.write("less", "#!/bin/sh\nkill -TERM 0\n");
  std::filesystem::permissions(x.folder.path() / "less",
                               std::filesystem::perms::owner_all);
  x.riffle.type("!./less\r");
  REQUIRE(x.riffle.read_next("exit status 143"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK(x.leave() == 0);
}

TEST_CASE("a command's status is known whatever the parent did with children") {
  if (!has_terminals()) return skip(no_terminals);
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  std::optional<talk> x{std::in_place};
  ::sigaction(SIGCHLD, &before, nullptr);
  x->riffle.type("!exit 3\r");
  REQUIRE(x->riffle.read_next("exit status 3\r\n"));
  REQUIRE(x->riffle.read_next("\x1b[?2004h"));
  CHECK(x->leave() == 0);
}

TEST_CASE("Ctrl-\\ ends a command, and not the conversation") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.begin_command("and th", "and th");
  x.riffle.type("\x1c");
  REQUIRE(x.riffle.read_next("exit status 131"));
  REQUIRE(x.riffle.read_next("> and th"));
  x.riffle.type("\x03");
  CHECK(x.leave() == 0);
}

TEST_CASE("a writer that a command left behind holds nobody") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type(
      "!(touch b; while [ -e b ]; do echo s; sleep 0.002; done) & echo "
      "begun\r");
  REQUIRE(x.riffle.read_next("\nbegun"));
  REQUIRE(x.riffle.read_next("Something that it started works on"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.end_command();
  CHECK(x.leave() == 0);
}

TEST_CASE("git asks for no editor that nobody would see") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.folder.write("c", "[user]\nname = a\nemail = a@b\n");
  x.riffle.type(
      "!export GIT_CONFIG_GLOBAL=$PWD/c; git init -q . && "
      "sh -c 'git commit --allow-empty'\r");
  REQUIRE(x.riffle.read_next("\nThere is no terminal for an editor here."));
  REQUIRE(x.riffle.read_next("exit status 1\r\n"));
  REQUIRE(x.riffle.read_next("It had no keyboard"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK(x.leave() == 0);
}

TEST_CASE("what is typed where nothing shows it is kept nowhere") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type(
      "!stty -echo < /dev/tty; touch b; while [ -e b ]; do sleep 0.5; done; "
      "stty echo < /dev/tty\r");  // for as long as a person needs
  REQUIRE(eventually(
      [&] { return std::filesystem::exists(x.folder.path() / "b"); }));
  x.riffle.type("hunter2\r");
  x.end_command();
  REQUIRE(x.riffle.read_next("What you typed beside it is left out"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("You said: go"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.riffle.written(), !Contains("hunter2"));
  CHECK_THAT(x.text_of("data/history"), !Contains("hunter2"));
}

TEST_CASE("on a terminal without a line what is typed beside is not sent") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{"dumb"};
  x.begin_command("y\nsecret\n", "secret\r\n");
  x.end_command();
  REQUIRE(x.riffle.read_next("Not sent, as it was typed beside the command:"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.riffle.written(), !Contains("You said"));
}

TEST_CASE("of a command that ends beside a slow reader nothing is left") {
  for (int i = 0; i < 3; ++i) {
    std::size_t seen = 0;
    const auto x =
        run_shell("seq 1 30000", {.show = [&](std::string_view y) {
                    seen += y.size();
                    // As a terminal that takes its time.
                    std::this_thread::sleep_for(std::chrono::milliseconds{40});
                  }});
    REQUIRE(x);
    CHECK_FALSE(x->left_some);
    CHECK(seen == 168'894);
  }
}
