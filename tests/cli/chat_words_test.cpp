// SPDX-License-Identifier: MIT
// What a conversation says of who answers, of what was dropped, and of words
// that are no task.
#include <string>

#include "runtime/cli/view/chat_line.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

constexpr auto at_prompt = "\x1b[?2004h";

struct place {
  place() {
    folder.write("s.toml",
                 "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml", R"toml(
[runtime]
data_dir = "data"
[models.default]
dialect = "scripted"
model = "s"
script = "s.toml"
[models.large]
dialect = "scripted"
model = "l"
script = "s.toml"
[agents.reviewer]
system_prompt = "You review."
model = "large"
)toml");
  }
  temp_folder folder;
};

void ask(terminal_program& at, const std::string& line,
         const std::string& answer) {
  CAPTURE(line);
  REQUIRE(at.read_next(at_prompt));
  at.type(line + "\r");
  INFO(at.written());
  REQUIRE(at.read_next(answer));
}

}  // namespace

TEST_CASE("an agent is named with its model, and a model in one line") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  ask(at, "/agent reviewer", "agent reviewer, model large (l)");
  ask(at, "/agent default", "agent default, model default (s)");
  ask(at, "/model large", "model large (l)");
  ask(at, "/agent default", "agent default, model large (l)");
  ask(at, "/agent nobody", "there is no agent");
  ask(at, "/model nothing", "there is no model");
  ask(at, "/model openai/mock-large", "\nmodel openai/mock-large");
  REQUIRE(at.read_next(at_prompt));
  const auto& all = at.written();
  CAPTURE(all);
  CHECK(all.find("(invalid_request)") == std::string::npos);
  CHECK(all.find("/help shows") == all.rfind("/help shows"));
  at.type("\x04");
  CHECK(at.finish() == 0);
}

TEST_CASE("exit alone leaves") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const auto* const word = GENERATE("exit", "quit");
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next(at_prompt));
  at.type(std::string{word} + "\r");
  CHECK(at.finish() == 0);
  CHECK(at.written().find("You said:") == std::string::npos);
}

TEST_CASE("exit within a task is a word, and what Ctrl-C drops is marked") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next(at_prompt));
  at.type("!pwd\x03");
  REQUIRE(at.read_next("> !pwd^C"));
  at.type("exit the loop\r");
  REQUIRE(at.read_next("You said: exit the loop"));
  REQUIRE(at.read_next(at_prompt));
  CHECK(at.written().find("You said: exit\r") == std::string::npos);
  at.type("\x04");
  CHECK(at.finish() == 0);
}

TEST_CASE("only the bare words mean to leave") {
  using riffle::cli::wants_to_leave;
  CHECK(wants_to_leave("exit"));
  CHECK(wants_to_leave("quit"));
  CHECK_FALSE(wants_to_leave("quit smoking"));
  CHECK_FALSE(wants_to_leave(""));
}
