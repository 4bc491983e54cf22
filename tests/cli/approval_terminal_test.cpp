// SPDX-License-Identifier: MIT
// A person decides at a pseudo-terminal; the program, its tools and its files
// are real, the model is a script.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto script = R"toml(
[[steps]]
text = "I change the notes.\n"
[[steps.calls]]
tool = "write"
arguments = { path = "notes.md", content = "two\n" }
[[steps]]
text = "Then: {{step.0.result.0}}\n"
[[steps.calls]]
tool = "write"
arguments = { path = "second.md", content = "more\n" }
[[steps]]
text = "And: {{step.1.result.0}}"
)toml";

struct place {
  place() {
    folder.write("s.toml", script);
    folder.write("notes.md", "one\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

constexpr auto prompt = "[s]top, [?] > ";
constexpr auto too_early = "[?]: wait half a second";

std::string picture_of(const terminal_program& x) {
  terminal_picture out{100};
  out.feed(x.written());
  return out.text();
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a person sees the diff, says yes, and no with a reason") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  CHECK(at.text_of("notes.md") == "one\n");
  CHECK(has_text(
      picture_of(riffle),
      "[APPROVAL] write: Writing notes.md\n│ @@ -1 +1 @@\n│ -one\n│ +two\n"
      "Run it? "));
  riffle.answer("y");
  REQUIRE(riffle.read_next("Writing second.md"));
  REQUIRE(riffle.read_next(prompt));
  CHECK(at.text_of("notes.md") == "two\n");
  riffle.answer("n");
  REQUIRE(riffle.read_next("Tab: back"));
  riffle.type("one file is enough\r");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("second.md").empty());
  const auto picture = picture_of(riffle);
  CHECK(has_text(picture, "write: second.md ✗ denied: you said no: one file "));
  CHECK(has_text(picture, "And: "));
  CHECK(has_text(picture.substr(picture.find("And: ")), "one file is enough"));
}

TEST_CASE("what was typed before a question is no answer to it") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  riffle.type("y\ny\ny\n");
  REQUIRE(riffle.read_next(too_early));
  riffle.answer("y");
  SECTION("silence is enough") {}
  SECTION("and who presses Tab need not wait") { riffle.answer("\t"); }
  REQUIRE(riffle.read_next(prompt));
  CHECK(at.text_of("notes.md") == "one\n");
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  REQUIRE(riffle.read_next("Writing second.md"));
  CHECK(at.text_of("notes.md") == "one\n");
}

TEST_CASE("a key in the first moment of a question is no answer to it") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.type("y");
  REQUIRE(riffle.read_next(too_early));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("yes, do");  // and several at once are a text
  REQUIRE(riffle.read_next(too_early));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("k");  // no answer either: what follows is a text
  REQUIRE(riffle.read_next(too_early));
  riffle.answer("y");
  REQUIRE(riffle.read_next(too_early));
  CHECK(at.text_of("notes.md") == "one\n");
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK(at.text_of("notes.md") == "one\n");
}

TEST_CASE("always is asked once") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("a");
  REQUIRE(riffle.read_next("[b]ack > "));
  CHECK(at.text_of("notes.md") == "one\n");
  CHECK(has_text(picture_of(riffle), "p  any write of notes.md\n"));
  riffle.type("t");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("notes.md") == "two\n");
  CHECK(at.text_of("second.md") == "more\n");
}

TEST_CASE("a file that changes behind a question is asked about again") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  at.folder.write("notes.md", "mine\n");
  REQUIRE(riffle.read_next("This file has been written to since"));
  riffle.answer("y");
  REQUIRE(riffle.read_next("-mine"));
  REQUIRE(riffle.read_next(prompt));
  CHECK(at.text_of("notes.md") == "mine\n");
  riffle.answer("y");
  REQUIRE(riffle.read_next("Writing second.md"));
  REQUIRE(riffle.read_next(prompt));
  CHECK(at.text_of("notes.md") == "two\n");
  riffle.answer("n");
  REQUIRE(riffle.read_next("Tab: back"));
  riffle.type("no\r");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("stop ends the run, and nothing was changed") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK(at.text_of("notes.md") == "one\n");
  CHECK(at.text_of("second.md").empty());
}

TEST_CASE("Ctrl-C at a question ends the run, and nothing was changed") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  // The prompt is gone, and what follows stands on lines of its own.
  CHECK_FALSE(has_text(picture_of(riffle), "[?] >"));
  CHECK(at.text_of("notes.md") == "one\n");
}

TEST_CASE("the end of the input is a no") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("\x04");
  REQUIRE(riffle.read_next("second.md"));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("\x04");
  CHECK(riffle.finish() == 0);  // somebody was there, and said no
  CHECK(at.text_of("notes.md") == "one\n");
  CHECK_FALSE(has_text(riffle.written(), "nobody"));
}

TEST_CASE("who only looks for proposals makes no data folder") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program list{at.folder.path(), {"proposals", "list"}, 200};
  CHECK(list.finish() == 0);
  CHECK(has_text(list.written(), "nothing waits for a decision"));
  terminal_program deny{at.folder.path(), {"proposals", "deny", "none"}, 200};
  CHECK(deny.finish() == 2);
  CHECK(has_text(deny.written(), "there is no proposal \"none\""));
  CHECK_FALSE(std::filesystem::exists(at.folder.path() / "data"));
}

TEST_CASE("another process decides while a question stands there") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(), {"run", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  terminal_program list{
      at.folder.path(), {"proposals", "list", "--output", "jsonl"}, 200};
  CHECK(list.finish() == 0);
  const auto begin = list.written().find("prop_");
  REQUIRE(begin != std::string::npos);
  const auto id =
      list.written().substr(begin, list.written().find('"', begin) - begin);
  terminal_program deny{
      at.folder.path(), {"proposals", "deny", id, "--reason", "not now"}, 200};
  CHECK(deny.finish() == 0);
  CHECK(has_text(deny.written(), "is denied by user"));
  REQUIRE(riffle.read_next("✗ denied elsewhere: not now"));
  REQUIRE(riffle.read_next("second.md"));
  REQUIRE(riffle.read_next(prompt));
  terminal_program late{at.folder.path(), {"proposals", "approve", id}, 200};
  CHECK(late.finish() == 1);
  CHECK(has_text(late.written(), "too late"));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("notes.md") == "one\n");
  CHECK(at.text_of("second.md") == "more\n");
  CHECK(has_text(picture_of(riffle),
                 "│ +two\n[TOOL] write: notes.md ✗ denied elsewhere: not now"));
}

TEST_CASE("what came of an answer is said before the next question") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  at.folder.write("s.toml",
                  "[[steps]]\n[[steps.calls]]\ntool = \"write\"\narguments = "
                  "{ path = \"notes.md\", content = \"two\" }\n"
                  "[[steps.calls]]\ntool = \"write\"\narguments = { path = "
                  "\"second.md\", content = \"more\" }\n"
                  "[[steps]]\ntext = \"End.\"\n");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  riffle.type("\r");
  REQUIRE(riffle.read_next(prompt));
  // In the model's order.
  const auto asked = riffle.written().find("Writing notes.md");
  const auto other = riffle.written().find("Writing second.md");
  CHECK(asked < other);
  CHECK(riffle.written().find("[TOOL] write: notes.md ✗ denied: you said no") <
        other);
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(has_text(picture_of(riffle), "[TOOL] write: second.md"));
  CHECK_FALSE(has_text(riffle.written(), "approved by user"));
}

TEST_CASE("view shows all of a change that is larger than the screen") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  std::string before;
  std::string after;
  for (int i = 0; i < 300; ++i) {
    const auto n = std::to_string(i);
    before += "before " + n + " " + std::string(60, 'x') + "\n";
    after += "after " + n + " " + std::string(60, 'y') + "\\n";
  }
  at.folder.write("notes.md", before);
  at.folder.write("s.toml",
                  "[[steps]]\n[[steps.calls]]\ntool = \"write\"\narguments = "
                  "{ path = \"notes.md\", content = \"" +
                      after + "\" }\n[[steps]]\ntext = \"End.\"\n");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(prompt));
  CHECK(has_text(riffle.written(), "│ -before 0 xx"));
  CHECK(has_text(riffle.written(), " more lines ([v]iew shows all)"));
  CHECK_FALSE(has_text(riffle.written(), "-before 299 "));
  riffle.answer("v");
  REQUIRE(riffle.read_next("│ -before 299 xx"));
  REQUIRE(riffle.read_next("│ +after 299 yy"));
  REQUIRE(riffle.read_next(prompt));
  terminal_program list{
      at.folder.path(), {"proposals", "list", "--output", "jsonl"}, 200};
  CHECK(list.finish() == 0);
  const auto begin = list.written().find("prop_");
  REQUIRE(begin != std::string::npos);
  const auto id =
      list.written().substr(begin, list.written().find('"', begin) - begin);
  terminal_program show{at.folder.path(), {"proposals", "show", id}, 200};
  CHECK(show.finish() == 0);
  CHECK(has_text(show.written(), "│ -before 299 xx"));
  CHECK(has_text(show.written(), "│ +after 299 yy"));
}

TEST_CASE("what a resumed plan was asked before the kill is not asked again") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  const std::string of_plan = "[s]top the plan, [?] > ";
  at.folder.write("p.toml", R"toml(
[[steps]]
id = "one"
tool = "write"
arguments = { path = "notes.md", content = "two\n" }
[[steps]]
id = "two"
tool = "write"
arguments = { path = "second.md", content = "more\n" }
)toml");
  std::string plan;
  {
    terminal_program riffle{at.folder.path(), {"plan", "p.toml"}, 100};
    REQUIRE(riffle.read_next(of_plan));
    riffle.answer("y");
    REQUIRE(riffle.read_next("Writing second.md"));
    REQUIRE(riffle.read_next(of_plan));
    const auto begin = riffle.written().find("plan_");
    REQUIRE(begin != std::string::npos);
    plan = riffle.written().substr(begin, 31);
  }  // killed
  terminal_program riffle{
      at.folder.path(), {"sessions", "resume", "--no-color", plan}, 100};
  REQUIRE(riffle.read_next(of_plan));
  const auto first = picture_of(riffle);
  CHECK(has_text(first, "second.md"));
  CHECK(first.find(of_plan) == first.rfind(of_plan));
  CHECK_FALSE(has_text(first, "Decided elsewhere"));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("second.md") == "more\n");
}

TEST_CASE("what changed between a kill and the resume is shown as it is") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  {
    terminal_program riffle{
        at.folder.path(), {"run", "go", "--session", "s1"}, 100};
    REQUIRE(riffle.read_next(prompt));
  }  // killed
  at.folder.write("notes.md", "three\n");
  terminal_program riffle{
      at.folder.path(), {"sessions", "resume", "s1", "--no-color"}, 100};
  REQUIRE(riffle.read_next("-three"));
  REQUIRE(riffle.read_next(prompt));
  CHECK_FALSE(has_text(picture_of(riffle), "-one"));
}

TEST_CASE("a bell rings at a question and at the end, where it is wanted") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  for (const bool wanted : {true, false}) {
    for (const auto* term : {"xterm", "dumb"}) {
      CAPTURE(wanted, term);
      const place x;
      std::vector<std::string> words{"run", "go", "--approve", "all"};
      if (wanted) words.emplace_back("--notify");
      terminal_program riffle{x.folder.path(), words, 100, term};
      CHECK(riffle.finish() == 0);
      const auto& text = riffle.written();
      CHECK(has_text(text, "\a") == wanted);
      CHECK(has_text(text, "\x1b]9;Riffle: the run has ended\x1b\\\a") ==
            (wanted && term == std::string{"xterm"}));
      CHECK_FALSE(has_text(text, "waits for your answer"));
    }
  }
  const place x;
  terminal_program riffle{x.folder.path(), {"run", "go", "--notify"}, 100};
  CHECK(
      riffle.read_until("\x1b]9;Riffle: a call waits for your answer\x1b\\\a"));
}
