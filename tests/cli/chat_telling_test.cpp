// SPDX-License-Identifier: MIT
// What a person says to a run that works, in a conversation.
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

namespace {

/// A call that waits, then an answer with what was said last. The script begins
/// anew at what a person says, so the call comes once more behind that.
constexpr auto script = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

struct talk {
  explicit talk(const std::string& more = {}, bool asks = false)
      : riffle{prepared(more, asks), {"chat", "--no-color"}, columns} {
    REQUIRE(riffle.read_next("/help shows"));
    REQUIRE(riffle.read_next("> "));
    riffle.type("one\r");
    REQUIRE(riffle.read_next(asks ? "[y]es" : "Running: touch a"));
  }
  const std::filesystem::path& prepared(const std::string& more, bool asks) {
    folder.write("s.toml", script);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[tools.bash]\napproval = \"" +
                     std::string{asks ? "ask" : "allow"} +
                     "\"\n"
                     "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                     "script = \"s.toml\"\n" +
                     more);
    return folder.path();
  }
  [[nodiscard]] bool goes_on() const {
    return eventually(
        [&] { return std::filesystem::remove(folder.path() / "a"); });
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

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("Enter in the empty line says what is queued to the run") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.resize(60);
  x.riffle.type("rather in C++\r");
  REQUIRE(x.riffle.read_next("(1 queued, Enter: say it now, Up: rather in"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("(1 for the next step: rather in C++) > "));
  x.riffle.resize(talk::columns);
  x.riffle.type("\x1b[A");
  REQUIRE(x.riffle.read_next("cannot be taken back"));
  x.riffle.type("more");
  REQUIRE(x.riffle.read_next("(1 for the next step) > more"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("[YOU] rather in C++"));
  REQUIRE(x.riffle.read_next("Running: touch a"));
  REQUIRE(x.riffle.read_next("> more"));  // and nothing is queued any more
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: rather in C++"));
  REQUIRE(x.riffle.read_next("> more"));
  x.riffle.type("\x03");
  CHECK(x.leave() == 0);
  CHECK(count(x.picture(), "rather in C++") == 2);
}

TEST_CASE("what no step hears is sent when the run has ended") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  x.riffle.type("two\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("three\r");
  REQUIRE(x.riffle.read_next("(1 queued, Enter: say it now, Up: three)"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("(1 for the next step"));
  x.riffle.type("\x03");  // it will never come
  REQUIRE(x.riffle.read_next("waits for your Enter"));
  REQUIRE(x.riffle.read_next("> three"));
  CHECK_THAT(x.picture(), !Contains("[YOU]"));
  x.riffle.type("\x03");
  CHECK(x.leave() == 0);
}

TEST_CASE("a run that ends at its last step leaves what was said to the next") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{"[agents.default]\nmax_steps = 1\n"};
  x.riffle.type("two\r");
  REQUIRE(x.riffle.read_next("(1 queued, Enter: say it now, Up: two)"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("(1 for the next step"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("used up its 1 step"));
  REQUIRE(x.riffle.read_next("> two"));
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("three\r");  // which nobody has said yet
  REQUIRE(x.riffle.read_next("(1 queued, Enter: say it now, Up: three)"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("used up its 1 step"));
  REQUIRE(x.riffle.read_next("Running: touch a"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("used up its 1 step"));
  // What was typed meanwhile stands behind it in the history.
  CHECK_THAT(x.picture(), Contains("Up, until the task stands there"));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.picture(), !Contains("[YOU]"));
}

TEST_CASE("what stands behind a command, or attaches a file, waits") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("two\r!true\rthree\r");
  REQUIRE(x.riffle.read_next("(3 queued, Enter: say it now, Up: three) > "));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("(1 for the next step, 2 queued, Up: three) > "));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("[YOU] two"));
  REQUIRE(x.riffle.read_next("(2 queued, Up: three)"));
  x.riffle.type("\x1b[A\x15\x1b[A\x15see @s.toml\r");
  REQUIRE(x.riffle.read_next("(1 queued, Up: see @s.toml)"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next(
      "Not said now: it attaches s.toml. It is sent when the run has ended."));
  REQUIRE(x.riffle.read_next("(1 queued"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: two"));
  REQUIRE(x.riffle.read_next("attached: s.toml"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: see @s.toml"));
  CHECK(x.leave() == 0);
}

TEST_CASE("what is queued is said beside a question, too") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{{}, true};
  const auto works = [&] {
    return std::filesystem::exists(x.folder.path() / "a");
  };
  x.riffle.type("two\r");
  REQUIRE(x.riffle.read_next("(1 queued, Enter: say it now"));
  x.riffle.type("\r");  // it answers nothing
  REQUIRE(x.riffle.read_next("(1 for the next step"));
  CHECK_FALSE(works());
  // Behind half a second of silence a key answers again; else it is a text.
  REQUIRE(eventually([&] {
    x.riffle.answer("");
    x.riffle.answer("y");
    x.riffle.answer("\x15");
    return works();
  }));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("[YOU] two"));
  x.riffle.signal(SIGKILL);
  x.riffle.finish();
}

TEST_CASE("what was heard before a kill is no line that waits, nor said anew") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("rather in C++\r");
  REQUIRE(x.riffle.read_next("(1 queued"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("(1 for the next step"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("[YOU] rather in C++"));
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.signal(SIGKILL);
  x.riffle.finish();
  std::filesystem::remove(x.folder.path() / "a");
  // As where it is killed before the file is written anew.
  terminal_program list{
      x.folder.path(), {"sessions", "list", "--output", "json"}, 200};
  CHECK(list.finish() == 0);
  std::smatch session;
  const auto listed = list.written();
  REQUIRE(std::regex_search(listed, session, std::regex{"ses_[0-9a-z]+"}));
  x.folder.write("data/queued",
                 "[\"" + session.str() + "\",999999999,\"rather in C++\"]\n");
  terminal_program again{
      x.folder.path(), {"chat", "-c", "--no-color"}, talk::columns};
  REQUIRE(again.read_next("ne[v]er > "));
  again.type("y\r");
  REQUIRE(again.read_next("[YOU] rather in C++"));
  REQUIRE(again.read_next("You said: rather in C++"));
  again.type("\x04");
  CHECK(again.finish() == 0);
  CHECK_THAT(again.written(), !Contains("waiting when it ended"));
}

TEST_CASE("a line is kept until it has done its work") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  x.riffle.type("!touch b; while [ -e b ]; do sleep 0.05; done\r");
  REQUIRE(eventually(
      [&] { return std::filesystem::exists(x.folder.path() / "b"); }));
  x.riffle.signal(SIGKILL);
  x.riffle.finish();
  std::filesystem::remove(x.folder.path() / "b");
  terminal_program again{
      x.folder.path(), {"chat", "-c", "--no-color"}, talk::columns};
  REQUIRE(again.read_next("1 line was waiting when it ended"));
  REQUIRE(again.read_next("> "));
  again.type("\x04");
  CHECK(again.finish() == 0);
}

TEST_CASE("a text of several lines looks at its turn as it did when written") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.riffle.type("first line\\\rsecond line\r");
  REQUIRE(x.riffle.read_next("(1 queued"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  REQUIRE(x.riffle.read_next("second line"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: first line"));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  CHECK(x.leave() == 0);
  CHECK_THAT(x.picture(), Contains("\n> first line\n  second line\n"));
}
