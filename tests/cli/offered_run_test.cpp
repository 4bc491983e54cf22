// SPDX-License-Identifier: MIT
// A run that was killed goes on in a conversation as its turns do: what is
// typed while it works waits for its end.
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

/// A turn that was killed in its first call, waits in its second one for a file
/// `go`, and then asks about a file.
struct killed_turn {
  explicit killed_turn(const std::vector<std::string>& words = {}) {
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "test -e begun || { touch begun; sleep 60; }" }
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch second; until test -e go; do sleep 0.02; done" }
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "{{task}}.md", content = "x\n" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
    const bool talks = words.empty();
    terminal_program killed{
        folder.path(),
        talks ? std::vector<std::string>{"chat", "--no-color"} : words, 110};
    if (talks) REQUIRE(killed.read_next("/help shows"));
    if (talks) killed.type("one\r");
    REQUIRE(eventually([&] { return has("begun"); }));
    killed.signal(SIGKILL);
    killed.finish();
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  void let_it_work(terminal_program& talk) const {
    REQUIRE(
        talk.read_next("1 call was under way when Riffle ended; nobody "
                       "knows how far it came:\r\n  bash: test -e begun"));
    REQUIRE(talk.read_next("ne[v]er > "));
    talk.type("y\r");
    REQUIRE(eventually([&] { return has("second"); }));
  }
  temp_folder folder;
};

constexpr auto question = "[s]top, [?] > ";
constexpr auto stops_task = "[s]top this task, [?] > ";

}  // namespace

TEST_CASE("what is typed while an offered run works waits for its end") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 110};
  x.let_it_work(talk);
  talk.type("two\r");
  REQUIRE(talk.read_next("(1 queued"));
  talk.type("/cost\r");  // what only looks is answered at once
  REQUIRE(talk.read_next("tokens in"));
  x.folder.write("go", "");
  REQUIRE(talk.read_next("one.md"));
  REQUIRE(talk.read_next(question));
  talk.answer("y");
  REQUIRE(talk.read_next("You said: one"));
  // It is the next turn of the same session.
  REQUIRE(talk.read_next("> two"));
  REQUIRE(talk.read_next(question));
  talk.answer("y");
  REQUIRE(talk.read_next("You said: two"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(x.has("one.md"));
  CHECK(x.has("two.md"));
  CHECK(talk.written().find("added to this session elsewhere") ==
        std::string::npos);
}

TEST_CASE("what a person gives up is not told as if another had ended it") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  x.folder.write("go", "");
  terminal_program talk{x.folder.path(), {"chat", "-c", "--no-color"}, 110};
  REQUIRE(talk.read_next("ne[v]er > "));
  SECTION("at once") { talk.type("v\r"); }
  SECTION("when his words wait for it") {
    talk.type("n\r");
    REQUIRE(talk.read_next("\x1b[?2004h"));
    talk.type("two\r");
    REQUIRE(talk.read_next("A run of this session was not finished"));
    REQUIRE(talk.read_next("words, /new begins another."));
    REQUIRE(talk.read_next("ne[v]er > "));
    talk.type("v\r");
    REQUIRE(talk.read_next(question));
    talk.answer("y");
    REQUIRE(talk.read_next("You said: two"));
  }
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("three\r");
  REQUIRE(talk.read_next(question));
  talk.answer("y");
  REQUIRE(talk.read_next("You said: three"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(talk.written().find("elsewhere") == std::string::npos);
}

TEST_CASE("a summary waits for what was not finished, and says so") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  terminal_program talk{x.folder.path(), {"chat", "-c", "--no-color"}, 110};
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("n\r");
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("/compact\r");
  REQUIRE(talk.read_next("yes or never to it has the session summed up then"));
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("n\r");
  REQUIRE(talk.read_next("nothing was summed up: a run of this session was"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(talk.written().find("sends your") == std::string::npos);
  CHECK(talk.written().find("not sent") == std::string::npos);
}

TEST_CASE("/approve counts for an offered run while it works") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 110};
  x.let_it_work(talk);
  talk.type("/approve all\r");
  REQUIRE(talk.read_next("From here calls run without a question"));
  x.folder.write("go", "");
  REQUIRE(talk.read_next("You said: one"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(x.has("one.md"));
}

TEST_CASE("Ctrl-C stops an offered run, and not the conversation") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 110};
  x.let_it_work(talk);
  talk.type("later\r");
  REQUIRE(talk.read_next("(1 queued"));
  talk.type("\x03");
  REQUIRE(talk.read_next("What it did and said is kept. What you had typed"));
  REQUIRE(talk.read_next("> later"));
  talk.type("\x15/cost\r");
  REQUIRE(talk.read_next("tokens in"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK_FALSE(x.has("one.md"));
  const auto told = talk.written().find("waits for your Enter");
  CHECK(talk.written().find("waits for your Enter", told + 1) ==
        std::string::npos);
}

TEST_CASE("Ctrl-D while an offered run works leaves at its end") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  terminal_program talk{
      x.folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  x.let_it_work(talk);
  talk.type("\x04");
  REQUIRE(talk.read_next("(leaves when the run has ended)"));
  x.folder.write("go", "");
  CHECK(talk.finish() == 0);
  CHECK(x.has("one.md"));
}

TEST_CASE("an offered volley works above the input line, as a turn does") {
  if (!has_terminals()) return skip(no_terminals);
  killed_turn x{{"run", "--workers", "1", "--", "one", "more"}};
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(talk.read_next("nobody knows how far it came:\r\n  bash: test -e"));
  REQUIRE(talk.read_next("Finish it first?"));
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("y\r");
  REQUIRE(eventually([&] { return x.has("second"); }));
  talk.type("later\r");
  REQUIRE(talk.read_next("(1 queued"));
  talk.type("/cost\r");
  REQUIRE(talk.read_next("token"));
  x.folder.write("go", "");
  for (const auto* file : {"one.md", "more.md"}) {
    REQUIRE(talk.read_next(file));
    REQUIRE(talk.read_next(stops_task));
    talk.answer("y");
    REQUIRE(eventually([&] { return x.has(file); }));
  }
  // Nothing of it was lost.
  REQUIRE(talk.read_next("> later"));
  REQUIRE(talk.read_next(question));
  talk.answer("y");
  REQUIRE(talk.read_next("You said: later"));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
}

TEST_CASE("Ctrl-C stops an offered volley, and not the conversation") {
  if (!has_terminals()) return skip(no_terminals);
  killed_turn x{{"run", "--workers", "1", "--", "one", "more"}};
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("y\r");
  REQUIRE(eventually([&] { return x.has("second"); }));
  talk.type("later\r");
  REQUIRE(talk.read_next("(1 queued"));
  talk.type("\x03");
  REQUIRE(talk.read_next("What you had typed waits for your Enter"));
  REQUIRE(talk.read_next("> later"));
  talk.type("\x15\x04");
  CHECK(talk.finish() == 0);
  CHECK_FALSE(x.has("one.md"));
}

TEST_CASE("what an offered run has said stands there once") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
text = "The first words."
[[steps.calls]]
tool = "bash"
arguments = { command = "test -e begun || { touch begun; sleep 60; }" }
[[steps]]
text = "The last words."
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  {
    terminal_program killed{
        folder.path(), {"run", "one", "--session", "s1"}, 110};
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(folder.path() / "begun"); }));
    killed.signal(SIGKILL);
    killed.finish();
  }
  const bool resumes = GENERATE(true, false);
  const bool takes = GENERATE(true, false);
  CAPTURE(resumes, takes);
  terminal_program talk{
      folder.path(),
      resumes
          ? std::vector<std::string>{"chat", "--no-color", "--session", "other"}
          : std::vector<std::string>{"chat", "--no-color", "-c"},
      110};
  if (resumes) {
    // What is offered at first is no part of that session.
    REQUIRE(talk.read_next("ne[v]er > "));
    talk.type("n\r");
    REQUIRE(talk.read_next("\x1b[?2004h"));
    talk.type("/resume s1\r");
    REQUIRE(talk.read_next("Session s1"));
  }
  REQUIRE(talk.read_next("> one"));
  REQUIRE(talk.read_next("ne[v]er > "));
  CHECK(talk.written().find("The first words.") == std::string::npos);
  talk.type(takes ? "y\r" : "v\r");
  REQUIRE(talk.read_next("The first words."));
  if (takes) REQUIRE(talk.read_next("The last words."));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  const auto& all = talk.written();
  const auto first = all.find("The first words.");
  CHECK(all.find("The first words.", first + 1) == std::string::npos);
}

TEST_CASE("what was said when Riffle was killed stands behind a no") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
text = "The first words."
[[steps.calls]]
tool = "bash"
arguments = { command = "echo one" }
[[steps]]
[[steps.events]]
text = "The cut words.\n"
[[steps.events]]
delay = "60s"
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  const std::vector<std::string> words{"chat", "--no-color"};
  {
    terminal_program killed{folder.path(), words, 110};
    REQUIRE(killed.read_next("\x1b[?2004h"));
    killed.type("go\r");
    REQUIRE(killed.read_next("The cut words."));
    killed.signal(SIGKILL);
    killed.finish();
  }
  const std::string answer = GENERATE("n", "v");
  CAPTURE(answer);
  terminal_program talk{folder.path(), {"chat", "--no-color", "-c"}, 110};
  REQUIRE(talk.read_next("ne[v]er > "));
  CHECK(talk.written().find("words.") == std::string::npos);
  talk.type(answer + "\r");
  REQUIRE(talk.read_next("The first words.\r\n  bash: echo one\r\n"));
  REQUIRE(talk.read_next("The cut words."));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  const auto& all = talk.written();
  CHECK(all.find("The cut words.") == all.rfind("The cut words."));
}

TEST_CASE("a session whose run was resumed was used then") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_turn x;
  x.folder.write("go", "");
  terminal_program other{
      x.folder.path(), {"run", "--approve", "all", "other"}, 110};
  REQUIRE(other.read_next("ne[v]er > "));
  other.type("n\r");
  REQUIRE(other.read_next("You said: other"));
  CHECK(other.finish() == 0);
  const auto listed = [&] {
    terminal_program list{x.folder.path(), {"sessions", "list"}, 110};
    CHECK(list.finish() == 0);
    const auto all = list.written();
    return std::pair{all.find(" one"), all.find(" other")};
  };
  const auto before = listed();
  CHECK(before.second < before.first);
  terminal_program resumed{
      x.folder.path(), {"run", "--approve", "none", "third"}, 110};
  REQUIRE(resumed.read_next("ne[v]er > "));
  resumed.type("y\r");
  REQUIRE(resumed.read_next(question));
  resumed.answer("y");
  REQUIRE(resumed.read_next("You said: third"));
  CHECK(resumed.finish() != -1);
  const auto after = listed();
  CHECK(after.first < after.second);
}
