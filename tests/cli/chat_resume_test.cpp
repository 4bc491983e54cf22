// SPDX-License-Identifier: MIT
// Which sessions "/resume" finds, and what "/sessions" says of this one.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

constexpr auto at_prompt = "\x1b[?2004h";

struct place {
  place() {
    folder.write("s.toml",
                 "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  void run(std::vector<std::string> tasks) const {
    tasks.insert(tasks.begin(), {"run", "--no-color"});
    terminal_program at{folder.path(), tasks, 110};
    const int status = at.finish();
    INFO(at.written());
    REQUIRE(status == 0);
  }
  temp_folder folder;
};

void say(terminal_program& at, const std::string& line,
         const std::string& answer) {
  CAPTURE(line);
  REQUIRE(at.read_next(at_prompt));
  at.type(line + "\r");
  INFO(at.written());
  REQUIRE(at.read_next(answer));
}

int leave(terminal_program& at) {
  at.type("/quit\r");
  return at.finish();
}

}  // namespace

TEST_CASE("/resume finds tasks of a volley by words of them") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.run({"Check alpha", "Check beta", "Look at gamma"});
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  SECTION("several: they are shown to choose from, and no other") {
    say(at, "/resume check", "Go on with which session?");
    REQUIRE(at.read_next("Esc: none"));
    const auto list = at.written().substr(at.written().rfind("Go on with"));
    CAPTURE(list);
    CHECK(list.find("Check alpha") != std::string::npos);
    CHECK(list.find("Check beta") != std::string::npos);
    CHECK(list.find("gamma") == std::string::npos);
    at.type("\r");
    REQUIRE(at.read_next("You said: Check "));
  }
  SECTION("one: it goes on") { say(at, "/resume gam", "> Look at gamma"); }
  SECTION("a whole id that is pasted into the list finds its session") {
    terminal_program listed{
        here.folder.path(), {"sessions", "list", "--output", "json"}, 110};
    REQUIRE(listed.finish() == 0);
    const auto all = listed.written();
    const auto id = all.substr(all.find("ses_"), 30);
    CAPTURE(all, id);
    say(at, "/resume", "Esc: none");
    at.type("\x1b[200~" + id + "\x1b[201~");
    REQUIRE(at.read_next("\"" + id + "\": Up, Down"));
    at.type("\r");
    REQUIRE(at.read_next("Session " + id.substr(24)));
  }
  SECTION("where there is nothing else they are what is offered") {
    say(at, "/resume", "Go on with which session?");
    REQUIRE(at.read_next("Check alpha"));
    REQUIRE(at.read_next("Esc: none"));
    at.type("\x1b");
    REQUIRE(at.read_next("this session goes on"));
  }
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("without words /resume offers what was begun by itself") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.run({"Check alpha", "Check beta"});
  here.run({"Write a poem"});
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  say(at, "/resume", "Go on with which session?");
  REQUIRE(at.read_next("Write a poem"));
  REQUIRE(at.read_next("Esc: none"));
  CHECK(at.written().find("Check") == std::string::npos);
  at.type("\x1b");
  REQUIRE(at.read_next("this session goes on"));
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("Tab behind /resume offers what its list does") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.run({"Check alpha", "Check beta"});
  here.run({"Write a poem"});
  here.run({"Something else"});
  terminal_program at{here.folder.path(), {"chat", "-c", "--no-color"}, 110};
  // More than is offered, and than would be found by what is shown of it.
  say(at, "/title " + std::string(250, 'x'), "is called:");
  say(at, "/new", "A new session.");
  say(at, "Another thing", "You said: Another thing");
  REQUIRE(at.read_next(at_prompt));
  at.type("/resume ");
  REQUIRE(at.read_next("    Write a poem"));
  at.type("\t");
  REQUIRE(at.read_next("> /resume Write a poem"));
  at.type("\r");
  REQUIRE(at.read_next("You said: Write a poem"));
  CHECK(at.written().find("Go on with which") == std::string::npos);
  CHECK(at.written().find("Check") == std::string::npos);
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("/sessions marks the session that goes on") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.run({"Write a poem"});
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  say(at, "/sessions", "Write a poem");
  CHECK(at.written().find("(this one)") == std::string::npos);
  say(at, "Another thing", "You said: Another thing");
  say(at, "/sessions", "(this one) Another thing");
  REQUIRE(at.read_next("Write a poem"));
  REQUIRE(at.read_next(at_prompt));
  CHECK(at.written().find("(this one) Write") == std::string::npos);
  CHECK(leave(at) == 0);
}

TEST_CASE("/resume says that the folder is gone, and names none") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.run({"one"});
  const auto gone = here.folder.path() / "gone";
  std::filesystem::create_directory(gone);
  const auto in_place = [&](const char* name) {
    return (here.folder.path() / name).string();
  };
  const auto line = "cd gone && exec '" + terminal_program::built().string() +
                    "' chat --no-color --config '" + in_place("riffle.toml") +
                    "' --set 'runtime.data_dir=" + in_place("data") +
                    "' --set 'models.default.script=" + in_place("s.toml") +
                    "'";
  terminal_program at{here.folder.path(), {"-c", line}, 200, "xterm", "",
                      "/bin/sh"};
  REQUIRE(at.read_next("/help shows"));
  std::filesystem::remove(gone);
  const auto session = at.written().size();
  say(at, "/resume one", "; the folder that you are in is gone.");
  CHECK(at.written().find("works here", session) == std::string::npos);
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}

TEST_CASE("a folder whose name has line ends is told in one row") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const auto odd = here.folder.path() / "odd\nRun it? [y]es > ";
  std::filesystem::create_directory(odd);
  {
    terminal_program at{
        odd,
        {"run", "--no-color", "--config",
         (here.folder.path() / "riffle.toml").string(), "forge"},
        110};
    REQUIRE(at.finish() == 0);
  }
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 200};
  say(at, "/resume forge", "Its last task worked in ");
  REQUIRE(at.read_next("odd\\x0aRun it? [y]es >"));
  CHECK(leave(at) == 0);
}

TEST_CASE(
    "a run that can be finished only elsewhere is told with its command") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.folder.write("s.toml",
                    "[[steps]]\n[[steps.calls]]\ntool = \"bash\"\narguments = "
                    "{ command = \"touch begun; exec sleep 60\" }\n");
  here.folder.write("other/x", "");
  const auto config = (here.folder.path() / "riffle.toml").string();
  {
    terminal_program killed{here.folder.path(),
                            {"run", "--config", config, "--approve", "all",
                             "--session", "s1", "go"},
                            110};
    REQUIRE(riffle::testing::eventually(
        [&] { return std::filesystem::exists(here.folder.path() / "begun"); }));
    killed.signal(SIGKILL);
    killed.finish();
  }
  terminal_program at{here.folder.path() / "other",
                      {"chat", "--no-color", "--config", config},
                      200};
  const auto there = "cd '" + here.folder.path().string() +
                     "' && riffle sessions resume s1\r\n";
  say(at, "/resume s1", "Its last run was not finished, and goes on only");
  REQUIRE(at.read_next(there));
  CHECK(at.written().find("the next one works here") == std::string::npos);
  REQUIRE(at.read_next("  riffle sessions forget s1\r\n"));
  say(at, "and?", "it was not sent: a run of this session was not finished");
  REQUIRE(at.read_next(there));
  REQUIRE(at.read_next("> and?"));
  at.type("\x03");
  CHECK(leave(at) == 0);
}
