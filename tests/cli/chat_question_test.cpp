// SPDX-License-Identifier: MIT
// A question in a conversation: what else a person can do while it stands
// there, and what becomes of an answer that is not finished.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

constexpr auto question = "[?] > ";

constexpr auto two_writes = R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "y" }
[[steps]]
text = "It is done."
)toml";

struct asking_place {
  asking_place() {
    folder.write("s.toml", two_writes);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] bool is_made() const {
    return std::filesystem::exists(folder.path() / "made");
  }
  /// What waits, as another program sees it.
  [[nodiscard]] std::string open_proposal() const {
    terminal_program list{
        folder.path(), {"proposals", "list", "--output", "jsonl"}, 200};
    CHECK(list.finish() == 0);
    const auto begin = list.written().find("prop_");
    REQUIRE(begin != std::string::npos);
    return list.written().substr(begin,
                                 list.written().find('"', begin) - begin);
  }
  temp_folder folder;
};

struct asked_talk : asking_place {
  asked_talk() {
    REQUIRE(riffle.read_next("/help shows"));
    riffle.type("go\r");
    REQUIRE(riffle.read_next(question));
  }
  void answer_both() {
    riffle.answer("y");
    REQUIRE(riffle.read_next("-x"));
    REQUIRE(riffle.read_next(question));
    riffle.answer("y");
    REQUIRE(riffle.read_next("It is done."));
  }
  int leave() {
    riffle.type("\x04");
    return riffle.finish();
  }
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 110};
};

}  // namespace

TEST_CASE("Ctrl-D at a question is no answer: it leaves at the run's end") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("\x04");
  REQUIRE(x.riffle.read_next("(leaves when the run has ended)"));
  const bool stays = GENERATE(true, false);
  if (stays) {
    x.riffle.answer("\x04");
    REQUIRE(x.riffle.read_next(question));
  }
  x.answer_both();
  CHECK((stays ? x.leave() : x.riffle.finish()) == 0);
  CHECK(x.is_made());
  CHECK(x.riffle.written().find("nobody is there") == std::string::npos);
  CHECK(x.riffle.written().find("nobody could be asked") == std::string::npos);
}

TEST_CASE("Esc at a question stops the run") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.type("\x1b");
  REQUIRE(x.riffle.read_next("2 calls were not begun."));
  REQUIRE(x.riffle.read_next("Say how to go on."));
  CHECK(x.leave() == 0);
  CHECK_FALSE(x.is_made());
}

TEST_CASE("Esc leaves a part of a question first") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("n");
  REQUIRE(x.riffle.read_next("Why not?"));
  x.riffle.type("\x1b");
  REQUIRE(x.riffle.read_next(question));
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("where an Esc stops nothing, it and a key behind it are no answer") {
  if (!has_terminals()) return skip(no_terminals);
  const asking_place x;
  terminal_program riffle{x.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next(question));
  riffle.answer("\x1b");
  REQUIRE(riffle.read_next("[?]: wait half a second"));
  riffle.type("y");
  REQUIRE(riffle.read_next(question));
  CHECK_FALSE(x.is_made());
  riffle.answer("s");
  riffle.finish();
  CHECK_FALSE(x.is_made());
}

TEST_CASE("a Tab behind @ completes, and the text behind it answers nothing") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("see @rif");
  REQUIRE(x.riffle.read_next("> see @rif"));
  x.riffle.type("\t");
  REQUIRE(x.riffle.read_next("> see @riffle.toml"));
  x.riffle.type("\t");  // there is no more to complete
  REQUIRE_FALSE(x.riffle.written().ends_with(question));
  x.riffle.answer("yy");
  REQUIRE(x.riffle.read_next("> see @riffle.toml yy"));
  CHECK_FALSE(x.is_made());
  x.riffle.type("\x15");
  REQUIRE(x.riffle.read_next(question));
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("a Tab behind a bare @ is no answer to a question, either") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("see @");
  REQUIRE(x.riffle.read_next("> see @"));
  x.riffle.type("\t");
  x.riffle.answer("yy");
  REQUIRE(x.riffle.read_next("yy"));
  CHECK_FALSE(x.is_made());
  x.riffle.type("\x15");
  REQUIRE(x.riffle.read_next(question));
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("who comes to a conversation that lives sees that it does") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  terminal_program other{x.folder.path(), {"chat", "-c", "--no-color"}, 110};
  REQUIRE(other.read_next(
      "It waits for a decision in another terminal: write made"));
  REQUIRE(other.read_next("riffle proposals approve prop_"));
  REQUIRE(other.read_next("\x1b[?2004h"));  // its prompt takes keys
  other.type("more\r");
  REQUIRE(other.read_next("this conversation waits for a decision in another"));
  REQUIRE(other.read_next("riffle proposals approve prop_"));
  REQUIRE(other.read_next("It was not sent."));
  REQUIRE(other.read_next("\x1b[?2004h"));
  other.type("\x15\x04");
  CHECK(other.finish() == 0);
  CHECK(other.written().find("yes or never") == std::string::npos);
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("a letter meant for a question is no task, and a task is kept") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("yx");
  REQUIRE(x.riffle.read_next("yx"));
  x.riffle.type("\x7f\r");
  REQUIRE(x.riffle.read_next("\"y\" was no answer: press the key alone"));
  CHECK_FALSE(x.is_made());
  x.riffle.type("then the other file\r");
  REQUIRE(x.riffle.read_next("(1 queued"));
  // Before anything can end the program.
  std::ifstream in{x.folder.path() / "data" / "history"};
  const std::string all{std::istreambuf_iterator<char>{in}, {}};
  CHECK(all == "\"go\"\n\"y\"\n\"then the other file\"\n");
  x.riffle.type("\x1b[A\x15");
  REQUIRE(x.riffle.read_next(question));
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("what was changed of a call stands there when it is asked again") {
  if (!has_terminals()) return skip(no_terminals);
  const asking_place x;
  x.folder.write("ed.sh", "printf mine > \"$1\"\n");
  const scoped_env editor{"VISUAL",
                          "sh " + (x.folder.path() / "ed.sh").string()};
  terminal_program riffle{x.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next(question));
  riffle.answer("e");
  REQUIRE(riffle.read_next("+mine"));
  REQUIRE(riffle.read_next("Run it with your arguments?"));
  REQUIRE(riffle.read_next(question));
  x.folder.write("made", "theirs");
  riffle.answer("a");
  REQUIRE(riffle.read_next("Which?"));
  riffle.answer("c");
  REQUIRE(riffle.read_next("Nothing was decided"));
  REQUIRE(riffle.read_next("(as you changed it)"));
  REQUIRE(riffle.read_next("-theirs"));
  REQUIRE(riffle.read_next("+mine"));
  REQUIRE(riffle.read_next("Run it with your arguments?"));
  REQUIRE(riffle.read_next(question));
  // What stands there is what would be done: one yes is enough.
  riffle.answer("y");
  REQUIRE(riffle.read_next("Not asked: what you said yes to is unchanged."));
  REQUIRE(riffle.read_next("[TOOL] write: made"));
  REQUIRE(riffle.read_next("-mine"));  // the second call
  REQUIRE(riffle.read_next(question));
  riffle.answer("s");
  riffle.finish();
}

TEST_CASE("what only looks is answered beside a question, and a queue") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.type("/output\r");
  REQUIRE(x.riffle.read_next("No call has ended yet."));
  REQUIRE(x.riffle.read_next("[APPROVAL] write"));
  x.riffle.type("more to do\r");
  REQUIRE(x.riffle.read_next("(1 queued"));
  x.riffle.type("/cost\r");
  REQUIRE(x.riffle.read_next("tokens in"));
  REQUIRE(x.riffle.read_next("(1 queued"));
  x.riffle.type("\x1b[A");
  REQUIRE(x.riffle.read_next("> more to do"));
  x.riffle.type("\x18\x05");
  REQUIRE(x.riffle.read_next("editor can be opened when the run has ended"));
  x.riffle.type("\x15");
  REQUIRE(x.riffle.read_next(question));
  x.answer_both();
  CHECK(x.leave() == 0);
}

TEST_CASE("what is queued is not sent behind a stop at a question") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.type("what then?\r");
  REQUIRE(x.riffle.read_next("(1 queued"));
  REQUIRE(x.riffle.read_next(question));  // keys answer again
  x.riffle.answer("s");
  REQUIRE(x.riffle.read_next("What you had typed waits for your Enter."));
  REQUIRE(x.riffle.read_next("> what then?"));
  x.riffle.type("\x03");
  CHECK(x.leave() == 0);
}

TEST_CASE("a reason that is typed when others decide is kept, and not sent") {
  if (!has_terminals()) return skip(no_terminals);
  asked_talk x;
  x.riffle.answer("n");
  REQUIRE(x.riffle.read_next("Why not?"));
  x.riffle.type("not now");
  REQUIRE(x.riffle.read_next("> not now"));
  terminal_program other{
      x.folder.path(), {"proposals", "deny", x.open_proposal()}, 200};
  CHECK(other.finish() == 0);
  REQUIRE(
      x.riffle.read_next("decided elsewhere before you had said why not; your "
                         "words stand in the"));
  REQUIRE(x.riffle.read_next("Tab first"));
  x.riffle.type(" or y\r");
  REQUIRE(x.riffle.read_next("Enter again sends it"));
  REQUIRE(x.riffle.read_next("> not now or y"));
  x.riffle.type("\x15");
  x.riffle.answer("\t");
  REQUIRE(x.riffle.read_next(question));
  x.riffle.answer("y");
  REQUIRE(x.riffle.read_next("It is done."));
  CHECK(x.leave() == 0);
}

TEST_CASE("a reason that is typed when others decide is told") {
  if (!has_terminals()) return skip(no_terminals);
  const asking_place x;
  terminal_program riffle{x.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next(question));
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("not now");
  REQUIRE(riffle.read_next("> not now"));
  terminal_program other{
      x.folder.path(), {"proposals", "deny", x.open_proposal()}, 200};
  CHECK(other.finish() == 0);
  REQUIRE(riffle.read_next("before you had said why not: \"not now\""));
  // There is no input line, and yet no letter of the reason is an answer.
  REQUIRE(riffle.read_next("[?]: Tab first"));
  riffle.answer("y");
  riffle.answer("\t");
  REQUIRE(riffle.read_next(question));
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  riffle.finish();
  CHECK(riffle.written().find("keys go to the line") == std::string::npos);
  CHECK_FALSE(x.is_made());
}

TEST_CASE("what another terminal approved stands there as that changed it") {
  if (!has_terminals()) return skip(no_terminals);
  const asking_place x;
  x.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "until test -e go; do sleep 0.02; done; echo 1 >made" }
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps]]
text = "It is done."
)toml");
  x.folder.write("ed.sh", "printf mine > \"$1\"\n");
  const scoped_env editor{"VISUAL",
                          "sh " + (x.folder.path() / "ed.sh").string()};
  terminal_program riffle{
      x.folder.path(), {"run", "--no-color", "--session", "s1", "go"}, 110};
  REQUIRE(riffle.read_next(question));
  riffle.answer("y");
  REQUIRE(riffle.read_next("Writing made"));
  REQUIRE(riffle.read_next(question));
  riffle.answer("e");
  REQUIRE(riffle.read_next("+mine"));
  REQUIRE(riffle.read_next(question));
  terminal_program other{x.folder.path(),
                         {"proposals", "edit", x.open_proposal(), "--arguments",
                          R"({"path": "made", "content": "ours"})"},
                         200};
  CHECK(other.finish() == 0);
  x.folder.write("go", "");
  REQUIRE(riffle.read_next("(as changed)"));
  REQUIRE(riffle.read_next("+ours"));
  REQUIRE(riffle.read_next("Run it with the changed arguments?"));
  // Nor does another process know who has changed it.
  riffle.signal(SIGKILL);
  riffle.finish();
  terminal_program later{
      x.folder.path(), {"sessions", "resume", "s1", "--no-color"}, 110};
  REQUIRE(later.read_next("(as changed)"));
  REQUIRE(later.read_next("+ours"));
  CHECK(later.read_next("Run it with the changed arguments?"));
}

TEST_CASE("what was allowed in doubt does not cover the doubt") {
  if (!has_terminals()) return skip(no_terminals);
  const asking_place x;
  x.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "until test -e go; do sleep 0.02; done; exit 9" }
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps]]
text = "It is done."
)toml");
  terminal_program riffle{x.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next(question));
  riffle.answer("y");
  REQUIRE(riffle.read_next("Writing made"));
  REQUIRE(riffle.read_next(question));
  riffle.answer("a");
  REQUIRE(riffle.read_next("Which?"));
  riffle.answer("t");
  REQUIRE(riffle.read_next("From now on without a question: every call"));
  x.folder.write("go", "");
  REQUIRE(riffle.read_next("you are asked again about Writing made"));
  REQUIRE(riffle.read_next(question));
  CHECK(riffle.written().find("Not asked") == std::string::npos);
  CHECK_FALSE(x.is_made());
  riffle.answer("y");
  REQUIRE(riffle.read_next("It is done."));
  CHECK(riffle.finish() == 0);
  CHECK(x.is_made());
}
