// SPDX-License-Identifier: MIT
// A yes or no behind what looked like a question and was none.
#include <filesystem>
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

constexpr auto not_sent = "Not sent: no question stands there.";

struct talk {
  explicit talk(const std::string& term = "xterm")
      : at_prompt{term == "dumb" ? "> " : "\x1b[?2004h"},
        riffle{prepared(), {"chat", "--no-color"}, 110, term} {
    REQUIRE(riffle.read_next("/help shows"));
  }
  const std::filesystem::path& prepared() {
    folder.write("s.toml",
                 "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    return folder.path();
  }
  /// Types a line at the prompt, and reads up to what it comes to.
  void ask(const std::string& line, const std::string& answer) {
    CAPTURE(line);
    REQUIRE(riffle.read_next(at_prompt));
    riffle.type(line + "\r");
    const bool found = riffle.read_next(answer);
    INFO(riffle.written());
    REQUIRE(found);
  }
  [[nodiscard]] bool has_written(const std::string& text) const {
    return riffle.written().find(text) != std::string::npos;
  }
  int leave() {
    REQUIRE(riffle.read_next(at_prompt));
    riffle.type("\x04");
    return riffle.finish();
  }
  temp_folder folder;
  std::string at_prompt;
  terminal_program riffle;
};

}  // namespace

TEST_CASE("a yes behind a command that could ask nobody is no task") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  const auto word = GENERATE(as<std::string>{}, "y", "n", "yes", "No");
  x.ask("!printf 'remove it? '", "remove it?");
  x.ask(word, std::string{not_sent} + " Enter again sends it.");
  CHECK_FALSE(x.has_written("You said"));
  x.ask("", "You said: " + word);
  CHECK(x.leave() == 0);
}

TEST_CASE("it is the next line alone, and only such a word") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.ask("!true", "");
  x.ask("yes it is", "You said: yes it is");
  x.ask("y", "You said: y");
  x.ask("!true", "");
  x.ask("/cost", "tokens");
  x.ask("n", "You said: n");
  CHECK(x.leave() == 0);
  CHECK_FALSE(x.has_written(not_sent));
}

TEST_CASE("what was typed beside a command waits for one Enter, not for two") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.ask("!echo begun; until test -e go; do sleep 0.02; done", "begun\r\n");
  x.riffle.type("y\r");
  REQUIRE(x.riffle.read_next("y\r\n"));  // its echo
  x.folder.write("go", "");
  REQUIRE(x.riffle.read_next("What you had typed waits for your Enter"));
  x.ask("", "You said: y");
  CHECK(x.leave() == 0);
  CHECK_FALSE(x.has_written(not_sent));
}

TEST_CASE("a yes behind an undo that asked nothing is no task") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.ask("/undo", "There is no change to take back.");
  x.ask("y", not_sent);
  x.ask("", "You said: y");
  CHECK(x.leave() == 0);
}

TEST_CASE("a terminal that cannot erase has it typed again") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{"dumb"};
  x.ask("!true", "");
  x.ask("y", std::string{not_sent} + " Type it again to send it.");
  x.ask("y", "You said: y");
  CHECK(x.leave() == 0);
}
