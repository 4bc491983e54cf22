// SPDX-License-Identifier: MIT
// A run that was killed is offered by the next one in its folder.
#include "runtime/cli/commands/unfinished.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/cli/terminal/confirm.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using namespace riffle::cli;
using testing::temp_folder;
using testing::terminal_program;

namespace {

unfinished_run made(const std::string& id, const std::string& folder,
                    storage::run_owner owner) {
  unfinished_run x;
  x.run.id = run_id{id};
  x.run.settings = "{\"folder\":\"" + folder + "\"}";
  x.owner = owner;
  return x;
}

constexpr auto script = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "echo ran >> ran; sleep 0.2" }
[[steps]]
text = "The end of it."
)toml";

/// A folder in which a run was killed while it asked about a call.
struct place {
  place() {
    folder.write("s.toml", script);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    terminal_program killed{
        folder.path(), {"run", "first", "--session", "s1"}, 100};
    REQUIRE(killed.read_until("[s]top, [?] > "));
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

}  // namespace

TEST_CASE("what is offered began in this folder and has no process any more") {
  using owner = storage::run_owner;
  CHECK_FALSE(left_behind({}, "/a"));
  // What a client waited for is nobody's any more.
  CHECK_FALSE(left_behind({made("plan_call_1", "/a", owner::gone),
                           made("run_once_1", "/a", owner::gone)},
                          "/a"));
  const std::vector<unfinished_run> all{
      made("run_1", "/a", owner::elsewhere), made("run_2", "/b", owner::gone),
      made("run_3", "/a", owner::gone), made("run_4", "/a", owner::gone)};
  CHECK(left_behind(all, "/a")->id == run_id{"run_3"});
  CHECK(left_behind(all, "/b")->id == run_id{"run_2"});
  CHECK_FALSE(left_behind(all, "/c"));
  // The session that goes on comes first.
  auto of = all;
  of[3].run.session = session_id{"s4"};
  CHECK(left_behind(of, "/a", session_id{"s4"})->id == run_id{"run_4"});
  CHECK(left_behind(of, "/a", session_id{"s5"})->id == run_id{"run_3"});
}

TEST_CASE("only whole answers count") {
  const std::vector<answer> all{{"y", "yes", ""}, {"v", "never", ""}};
  CHECK(answer_in("y", all) == 0);
  CHECK(answer_in("yes", all) == 0);
  CHECK(answer_in("v", all) == 1);
  CHECK(answer_in("never", all) == 1);
  for (const auto* x : {"", " ", "yy", "Y?", "n", "maybe"})
    CHECK(!answer_in(x, all));
}

TEST_CASE("a person finishes what was interrupted, then starts the next run") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program next{
      x.folder.path(), {"run", "second", "--approve", "all"}, 100};
  REQUIRE(
      next.read_until("A run of this folder was not finished: \"first\" "
                      "(session s1, begun "));
  REQUIRE(next.read_until(
      "Finish it first? (a letter and Enter) [y]es, [n]o, ne[v]er > "));
  const bool yes = GENERATE(true, false);
  next.type("\n");  // is no answer
  REQUIRE(next.read_next("ne[v]er > "));
  next.type(yes ? "y\n" : "n\n");
  if (yes) {
    // The call of the first run is asked about, whatever the second may do.
    REQUIRE(next.read_next("[s]top, [?] > "));
    next.answer("y");
    REQUIRE(next.read_next("The end of it."));
  }
  CHECK(next.finish() == 0);
  CHECK(x.text_of("ran") == (yes ? "ran\nran\n" : "ran\n"));
  // What was declined is offered again.
  terminal_program third{
      x.folder.path(), {"run", "third", "--approve", "all"}, 100};
  if (!yes) {
    REQUIRE(third.read_until("ne[v]er > "));
    third.type("n\n");
  }
  CHECK(third.finish() == 0);
  CHECK((third.written().find("was not finished") != std::string::npos) ==
        !yes);
}

TEST_CASE(
    "who stops what was offered first hears that the rest was not begun") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program next{x.folder.path(), {"run", "second"}, 100};
  REQUIRE(next.read_next("ne[v]er > "));
  next.type("y\n");
  REQUIRE(next.read_next("[s]top, [?] > "));
  next.type("\x03");
  REQUIRE(next.read_next("What you asked for now was not begun."));
  CHECK(next.finish() == 130);
}

TEST_CASE("into a file goes the answer that was asked for alone") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program next{x.folder.path(),
                        {"-c", "\"$0\" run second --approve all > out; cat out",
                         terminal_program::built().string()},
                        100,
                        "xterm",
                        "",
                        "/bin/sh"};
  REQUIRE(next.read_next("finishes it"));
  REQUIRE(next.read_next("The end of it."));
  CHECK(next.finish() == 0);
  CHECK(x.text_of("out") == "The end of it.\n");
}

TEST_CASE("a window that is closed at the question starts nothing") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  // Its signal may come later than the end of the keyboard; here it never does.
  terminal_program next{
      x.folder.path(),
      {"-c", "trap '' HUP; exec \"$0\" \"$@\"",
       terminal_program::built().string(), "run", "second", "--approve", "all"},
      100,
      "xterm",
      "",
      "/bin/sh"};
  REQUIRE(next.read_until("ne[v]er > "));
  CHECK(next.hang_up() == 130);
  CHECK(x.text_of("ran").empty());
}

TEST_CASE(
    "what is never to be finished ends as it is, and is not offered again") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program next{
      x.folder.path(), {"run", "second", "--approve", "all"}, 100};
  REQUIRE(next.read_until("ne[v]er > "));
  next.type("v\n");
  REQUIRE(next.read_next("Session s1 stays as it is; its run is cancelled"));
  CHECK(next.finish() == 0);
  CHECK(x.text_of("ran") == "ran\n");  // the second's
  terminal_program third{
      x.folder.path(), {"run", "third", "--approve", "all"}, 100};
  CHECK(third.finish() == 0);
  CHECK(third.written().find("was not finished") == std::string::npos);
}

TEST_CASE("an interrupted run is finished in its own folder only") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  std::filesystem::create_directory(x.folder.path() / "other");
  std::filesystem::copy_file(x.folder.path() / "s.toml",
                             x.folder.path() / "other/s.toml");
  x.folder.write("other/riffle.toml",
                 "[runtime]\ndata_dir = \"../data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  terminal_program there{
      x.folder.path() / "other", {"sessions", "resume", "s1"}, 200};
  CHECK(there.finish() == 2);
  CHECK(there.written().find("the run was started in " +
                             x.folder.path().string()) != std::string::npos);
  terminal_program quiet{
      x.folder.path() / "other", {"run", "x", "--approve", "all"}, 200};
  CHECK(quiet.finish() == 0);  // nothing is offered
  CHECK(quiet.written().find("not finished") == std::string::npos);
  // No question says so there.
  terminal_program talk{x.folder.path() / "other",
                        {"chat", "--session", "s1", "--no-color"},
                        200};
  REQUIRE(talk.read_next("It was not finished."));
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(talk.written().find("Finish it first?") == std::string::npos);
}

TEST_CASE("a recap says that a run was cut where no question does") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  const bool quiet = GENERATE(true, false);
  CAPTURE(quiet);
  std::vector<std::string> words{"chat", "--session", "s1", "--no-color"};
  if (quiet) words.emplace_back("-q");
  terminal_program talk{x.folder.path(), words, 100};
  if (!quiet) {
    REQUIRE(talk.read_next("ne[v]er > "));
    talk.answer("n\n");
  }
  REQUIRE(talk.read_next("\x1b[?2004h"));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK((talk.written().find("It was not finished.") != std::string::npos) ==
        quiet);
}

TEST_CASE("what is no answer to the offer waits in the line behind it") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  // The shell takes the first line, so that the other one came before.
  terminal_program talk{
      x.folder.path(),
      {"-c", "read it; exec \"$0\" \"$@\"", terminal_program::built().string(),
       "chat", "--no-color"},
      100,
      "xterm",
      "",
      "/bin/sh"};
  talk.type("begin\nexplore f");
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("ast\n");
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("and more\n");
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("n\n");
  REQUIRE(talk.read_next("What you had typed, 2 inputs, waits for your Enter"));
  REQUIRE(talk.read_next("> explore fast"));
  talk.type("\x03");
  REQUIRE(talk.read_next("> and more"));
  talk.type("\x03\x04");
  CHECK(talk.finish() == 0);
}

TEST_CASE("where nothing can be drawn over what came early is told, not sent") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program talk{x.folder.path(),
                        {"-c", "read it; exec \"$0\" \"$@\"",
                         terminal_program::built().string(), "chat"},
                        100,
                        "dumb",
                        "",
                        "/bin/sh"};
  talk.type("begin\nrm -r x\n");
  REQUIRE(talk.read_next("Not sent, as it was typed before the question:"));
  REQUIRE(talk.read_next("rm -r x"));
  REQUIRE(talk.read_next("ne[v]er > "));
  talk.type("n\n");
  REQUIRE(talk.read_next("> "));
  talk.type("\x04");
  CHECK(talk.finish() == 0);
  CHECK(talk.written().find("[s]top") == std::string::npos);
}

TEST_CASE("behind Ctrl-Z and fg the offer stands there again") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  const bool chats = GENERATE(true, false);
  CAPTURE(chats);
  terminal_program next{
      x.folder.path(),
      chats ? std::vector<std::string>{"chat", "--no-color"}
            : std::vector<std::string>{"run", "second", "--approve", "all"},
      100};
  REQUIRE(next.read_next("ne[v]er > "));
  next.stop_and_go_on();
  REQUIRE(next.read_next(
      "Finish it first? (a letter and Enter) [y]es, [n]o, ne[v]er > "));
  next.type("n\n");
  if (chats) {
    REQUIRE(next.read_next("\x1b[?2004h"));
    next.type("\x04");
  }
  CHECK(next.finish() == 0);
}
