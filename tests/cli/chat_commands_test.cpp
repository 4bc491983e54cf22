// SPDX-License-Identifier: MIT
// What begins with '/', as a person types it at a pseudo-terminal.
#include <filesystem>
#include <fstream>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

struct talk {
  explicit talk(const std::string& steps =
                    "[[steps]]\nchunk = 999\ntext = \"You said: "
                    "{{task}}\"\n") {
    folder.write("s.toml", steps);
    folder.write(
        "other.toml",
        "[[steps]]\nchunk = 999\ntext = \"The other heard: {{task}}\"\n");
    folder.write("riffle.toml", R"toml(
[runtime]
data_dir = "data"
[models.default]
dialect = "scripted"
model = "s"
script = "s.toml"
[models.second]
dialect = "scripted"
model = "o"
script = "other.toml"
[agents.writer]
system_prompt = "You write."
)toml");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

/// Types a line, and reads up to what it comes to.
void say(terminal_program& at, const std::string& line,
         const std::string& answer) {
  CAPTURE(line);
  at.type(line + "\r");
  INFO(at.written());
  REQUIRE(at.read_next(answer));
}

constexpr auto at_prompt = "\x1b[?2004h";

/// The same, once the prompt is there.
void ask(terminal_program& at, const std::string& line,
         const std::string& answer) {
  REQUIRE(at.read_next(at_prompt));
  say(at, line, answer);
}

int leave(terminal_program& at) {
  at.type("/quit\r");
  return at.finish();
}

}  // namespace

TEST_CASE("sessions begin anew, are listed, and are gone on with") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  x.folder.write("AGENTS.md", "Use tabs.\n");
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  say(at, "/context", "Nothing yet: the session begins with your task.");
  say(at, "/cost", "Nothing yet.");
  say(at, "/plan", "There is no plan in this session.");
  say(at, "/compact", "There is nothing to sum up yet.");
  say(at, "/save x", "There is nothing to save yet.");
  say(at, "first task", "You said: first task");
  say(at, "/context", "where git stands, and what these files say:\r\n");
  REQUIRE(at.read_next("  AGENTS.md, 10 B"));
  REQUIRE(at.read_next("The window holds about "));
  REQUIRE(at.read_next(" of 128k tokens ("));
  REQUIRE(at.read_next("descriptions of tools"));
  REQUIRE(at.read_next("what the model said"));
  REQUIRE(at.read_next("1 run, 2 messages, 0 tool calls"));
  say(at, "/cost", " tokens in, ");
  say(at, "/new", "A new session.");
  say(at, "/context", "Nothing yet");
  say(at, "second task", "You said: second task");
  say(at, "/sessions", "second task");
  REQUIRE(at.read_next("first task"));
  // The ending of its id, as the list shows it.
  const auto line = at.written().rfind('\n', at.written().rfind("first task"));
  const auto begin = line + 1;
  const auto id =
      at.written().substr(begin, at.written().find(' ', begin) - begin);
  CAPTURE(id);
  say(at, "/resume none", "none");
  say(at, "/resume " + id, "Session ");
  REQUIRE(at.read_next("> first task"));
  REQUIRE(at.read_next("You said: first task"));
  say(at, "third task", "You said: third task");
  say(at, "/context", "2 runs, 4 messages");
  say(at, "/title Of tea", "is called: Of tea");
  SECTION("from a list") {
    say(at, "/resume", "Go on with which session?");
    REQUIRE(at.read_next("> "));
    REQUIRE(at.read_next("second task"));
    REQUIRE(at.read_next("Esc: none"));
    at.type("\r");
    REQUIRE(at.read_next("You said: second task"));
    say(at, "/context", "1 run, 2 messages");
  }
  SECTION("or from none of it") {
    say(at, "/resume", "Esc: none");
    at.type("\x1b");
    REQUIRE(at.read_next("this session goes on"));
    say(at, "/context", "2 runs, 4 messages");
  }
  CHECK(leave(at) == 0);
}

TEST_CASE("model and agent are chosen, and what is unknown is said") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  say(at, "/model", "> default (s)  (now)");
  REQUIRE(at.read_next("second (o)"));
  REQUIRE(at.read_next("Esc: none"));
  at.type("\x03");
  REQUIRE(at.read_next("model default (s)"));
  say(at, "/model nothing-like-it", "nothing-like-it");
  say(at, "one", "You said: one");
  REQUIRE(at.read_next("\x1b[?2004h"));  // while a run works there is no list
  say(at, "/model", "Esc: none");
  at.type("\x1b[B\r");  // down
  REQUIRE(at.read_next("model second"));
  say(at, "two", "The other heard: two");
  say(at, "/agent", "agent default");
  REQUIRE(at.read_next("or writer, model default (s)"));
  say(at, "/agent nobody", "nobody");
  say(at, "/agent writer", "agent writer");
  say(at, "three", "The other heard: three");
  say(at, "/tools", "bash");
  say(at, "/context", "3 runs, 6 messages");
  say(at, "/nonsense", "nonsense");
  CHECK(leave(at) == 0);
}

TEST_CASE("a session that goes on keeps its agent and its model") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  {
    terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
    REQUIRE(at.read_next("model default (s). /help shows"));
    ask(at, "plain", "You said: plain");
    ask(at, "/new", "A new session.");
    ask(at, "/agent writer", "agent writer");
    ask(at, "/model second", "model second (o)");
    ask(at, "written", "The other heard: written");
    REQUIRE(at.read_next(at_prompt));
    at.type("/resume\r");
    REQUIRE(at.read_next("Esc: none"));
    at.type("\r");
    REQUIRE(at.read_next(", model default (s).\r\n"));
    ask(at, "more", "You said: more");
    REQUIRE(at.read_next(at_prompt));
    at.type("/resume\r");
    REQUIRE(at.read_next("Esc: none"));
    at.type("\r");
    REQUIRE(at.read_next(", model second (o), agent writer.\r\n"));
    ask(at, "again", "The other heard: again");
    REQUIRE(at.read_next(at_prompt));
    CHECK(leave(at) == 0);
  }
  {
    terminal_program at{x.folder.path(), {"chat", "-c", "--no-color"}, 110};
    REQUIRE(at.read_next("model second (o), agent writer, session "));
    ask(at, "last", "The other heard: last");
    REQUIRE(at.read_next(at_prompt));
    CHECK(leave(at) == 0);
  }
  terminal_program at{
      x.folder.path(), {"chat", "-c", "--agent", "default", "--no-color"}, 110};
  REQUIRE(at.read_next("model default (s), session "));
  ask(at, "now", "You said: now");
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("a plan is shown") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x{R"toml(
[[steps]]
[[steps.calls]]
tool = "manage_plan"
arguments = { action = "create", steps = ["Look around", "Write it"] }
[[steps]]
text = "Done so far."
)toml"};
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  say(at, "go", "Done so far.");
  say(at, "/plan", "Look around");
  REQUIRE(at.read_next("Write it"));
  CHECK(leave(at) == 0);
}

TEST_CASE("what is typed before the prompt is there is a task, too") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  say(at, "one", "You said: one");  // the terminal reads lines yet
  say(at, "two", "You said: two");
  CHECK(leave(at) == 0);
}

TEST_CASE("a summary takes the place of what was said, in its session") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  ask(at, "one", "You said: one");
  ask(at, "/compact", "From here the model is told this summary");
  ask(at, "/context", "the summary");
  REQUIRE(at.read_next("2 runs, 4 messages"));
  ask(at, "two", "You said: two");
  ask(at, "/save out.txt", "saved: out.txt");
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
  for (const auto* word : {"**You:** one\n", "**You:** two\n"})
    CHECK(x.text_of("out.txt").find(word) != std::string::npos);
}

TEST_CASE("what was allowed, the plan and the title survive a summary") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x{R"toml(
[[steps]]
[[steps.calls]]
tool = "manage_plan"
arguments = { action = "create", steps = ["Look around", "Write it"] }
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps]]
text = "You said: {{task}}"
)toml"};
  const bool killed = GENERATE(true, false);
  CAPTURE(killed);
  {
    terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
    REQUIRE(at.read_next("/help shows"));
    REQUIRE(at.read_next(at_prompt));
    at.type("one\r");
    REQUIRE(at.read_next("[?] > "));
    at.answer("a");
    REQUIRE(at.read_next("Which?"));
    at.answer("t");
    REQUIRE(at.read_next("You said: one"));
    ask(at, "/title Of tea", "is called: Of tea");
    ask(at, "/compact", "From here the model is told this summary");
    if (!killed) {
      REQUIRE(at.read_next(at_prompt));
      CHECK(leave(at) == 0);
    }
  }
  terminal_program at{x.folder.path(), {"chat", "-c", "--no-color"}, 110};
  REQUIRE(at.read_next("\"Of tea\""));
  REQUIRE(at.read_next("/compact"));
  ask(at, "/plan", "Look around");
  std::filesystem::remove(x.folder.path() / "made");
  ask(at, "two", "You said: two");
  CHECK(std::filesystem::exists(x.folder.path() / "made"));
  ask(at, "/sessions", "Of tea");
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("what was typed before a list stood there chooses nothing") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("/model\rthat is a task\r");
  REQUIRE(at.read_next("> default (s)  (now)"));
  REQUIRE(at.read_next("Esc: none"));
  at.type("\x1b[B\r");  // down
  REQUIRE(at.read_next("model second"));
  REQUIRE(at.read_next("The other heard: that is a task"));
  CHECK(leave(at) == 0);
}

TEST_CASE("what is saved takes the place of no file") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  x.folder.write("mine.txt", "precious\n");
  terminal_program at{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  say(at, "one", "You said: one");
  say(at, "/save", "/save FILE");
  say(at, "/save mine.txt", "mine.txt is there already: name another file");
  say(at, "/save no/such/folder.txt", "no/such/folder.txt cannot be written");
  say(at, "/save it.txt", "saved: it.txt");
  CHECK(leave(at) == 0);
  CHECK(x.text_of("mine.txt") == "precious\n");
  CHECK(x.text_of("it.txt").find("You said: one") != std::string::npos);
}

TEST_CASE("prompts of a server are listed, and sent as a task") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml",
               "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR "\"]\n");
  terminal_program at{folder.path(), {"chat", "--no-color"}, 100};
  REQUIRE(at.read_next("/help shows"));
  at.type("/prompts\r");
  REQUIRE(at.read_next("/liar__greet who [how]  Greets somebody"));
  at.type("/liar__greet\r");
  REQUIRE(at.read_next("the prompt greet needs who"));
  at.type("/liar__greet Ann very warmly\r");
  REQUIRE(at.read_next("You said: Greet Ann very warmly."));
  at.type("/liar__no\r");
  REQUIRE(at.read_next("no server has a prompt liar__no"));
  REQUIRE(at.read_next("> "));
  at.type("\x04");
  CHECK(at.finish() == 0);
}

TEST_CASE("a model without a key is told of before a task is written") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  std::ofstream{x.folder.path() / "riffle.toml", std::ios::app}
      << "[models.far]\nbase_url = \"https://example.invalid/v1\"\n"
         "api_key_env = \"RIFFLE_NO_SUCH_KEY\"\n";
  terminal_program at{
      x.folder.path(), {"chat", "--no-color", "-m", "far"}, 110};
  REQUIRE(at.read_next("/help shows"));
  REQUIRE(at.read_next("there is no API key for "));
  REQUIRE(at.read_next("RIFFLE_NO_SUCH_KEY"));
  REQUIRE(at.read_next("/model chooses another model"));
  ask(at, "/model second", "model second");
  say(at, "hello", "The other heard: hello");
  CHECK(leave(at) == 0);
}

TEST_CASE(
    "a session that begins by its name is told of, and one that is near") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const talk x;
  const auto runs = [&](const std::string& session) {
    terminal_program at{
        x.folder.path(), {"run", "--session", session, "go"}, 110};
    CHECK(at.finish() == 0);
    return at.written();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  CHECK(has(runs("tickets"), "riffle: new session `tickets`\r\n"));
  CHECK_FALSE(has(runs("tickets"), "new session"));
  CHECK(has(runs("tickels"), "new session `tickels`; did you mean `tickets`?"));
  terminal_program at{
      x.folder.path(), {"chat", "--no-color", "--session", "ticket"}, 110};
  REQUIRE(at.read_next("new session `ticket`; did you mean `tick"));
  REQUIRE(at.read_next("/help shows"));
  CHECK(leave(at) == 0);
}
