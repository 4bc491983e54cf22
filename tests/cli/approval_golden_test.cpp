// SPDX-License-Identifier: MIT
// Questions on terminals of many kinds, as a person sees them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto ends = "[?] > ";

struct asking_place {
  explicit asking_place(const std::string& calls) {
    folder.write(
        "s.toml",
        "[[steps]]\n" + calls +
            "[[steps]]\ntext = \"You said: {{task}} {{step.0.result.0}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  /// $VISUAL of what starts next is a script with the file as "$1".
  void edits_with(const std::string& commands) const {
    folder.write("ed.sh", "#!/bin/sh\n" + commands + "\n");
    std::filesystem::permissions(folder.path() / "ed.sh",
                                 std::filesystem::perms::owner_all);
    ::setenv("VISUAL", (folder.path() / "ed.sh").c_str(), 1);
  }
  temp_folder folder;
};

std::string bash(const std::string& command) {
  return "[[steps.calls]]\ntool = \"bash\"\narguments = { command = '''" +
         command + "''' }\n";
}

std::string writes(const std::string& path) {
  return "[[steps.calls]]\ntool = \"write\"\narguments = { path = \"" + path +
         "\", content = \"new\\n\" }\n";
}

std::string from_question(const std::string& picture) {
  const auto at = picture.find("[APPROVAL]");
  return at == std::string::npos ? picture : picture.substr(at);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

/// Whether a terminal of 100 columns shows this.
bool seen(const terminal_program& x, const std::string& text) {
  terminal_picture out{100};
  out.feed(x.written());
  return out.text().find(text) != std::string::npos;
}

constexpr auto long_command =
    "touch made && echo '日本語の長い文字列' 'שלום עולם' and further words of "
    "a "
    "command that needs more than one row on most terminals";

}  // namespace

TEST_CASE("a question at 60, 80, 110 and 200 columns") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{bash(long_command)};
  const auto [columns, expected] = GENERATE(table<unsigned short, std::string>(
      {{60,
        "[APPROVAL] bash wants to run:\n"
        "│ touch made && echo '日本語の長い文字列' 'שלום עולם' and\n"
        "┊ further words of a command that needs more than one row\n"
        "┊ on most terminals\n"
        "Run it? [y]es, [n]o, [e]dit, [a]lways, [v]iew,\n"
        "[s]top, [?] >\n"},
       {80,
        "[APPROVAL] bash wants to run:\n"
        "│ touch made && echo '日本語の長い文字列' 'שלום עולם' and further "
        "words of a\n"
        "┊ command that needs more than one row on most terminals\n"
        "Run it? [y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top, [?] >\n"},
       {110,
        "[APPROVAL] bash wants to run:\n"
        "│ touch made && echo '日本語の長い文字列' 'שלום עולם' and further "
        "words of a command that needs more than\n"
        "┊ one row on most terminals\n"
        "Run it? [y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top, [?] >\n"},
       {200,
        "[APPROVAL] bash wants to run:\n"
        "│ touch made && echo '日本語の長い文字列' 'שלום עולם' and further "
        "words of a command that needs more than one row on most "
        "terminals\n"
        "Run it? [y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top, [?] >\n"}}));
  CAPTURE(columns);
  terminal_program riffle{
      at.folder.path(), {"run", "--no-color", "go"}, columns};
  REQUIRE(riffle.read_next(ends));
  terminal_picture picture{columns};
  picture.feed(riffle.written());
  CHECK(from_question(picture.text()) == expected);
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.has("made"));
}

TEST_CASE("a question follows the size of its terminal") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{bash(long_command)};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next(ends));
  terminal_picture picture{110};
  std::size_t fed = 0;
  const auto feed = [&] {
    picture.feed(riffle.written().substr(fed));
    fed = riffle.written().size();
  };
  feed();
  // With each of the texts that may stand below it.
  for (const auto* keys : {"", "n", "\t", "a"}) {
    if (*keys != '\0') {
      riffle.answer(keys);
      REQUIRE(riffle.read_next("> "));
      feed();
    }
    for (const unsigned short columns : {60, 80, 200, 110}) {
      CAPTURE(keys, columns);
      riffle.resize(columns);
      picture.resize(columns);
      REQUIRE(riffle.read_next("> "));
      feed();
      INFO(picture.text());
      CHECK(count(picture.text(), "[APPROVAL]") == 1);
      CHECK(count(picture.text(), "Run it?") + count(picture.text(), "Why") +
                count(picture.text(), "Which?") ==
            1);
    }
  }
  riffle.answer("b");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK_FALSE(at.has("made"));
}

TEST_CASE("what is typed in a conversation is no answer, and is kept") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{bash("while [ -e wait ]; do sleep 0.02; done") +
                        writes("made")};
  at.folder.write("wait", "");
  terminal_program riffle{
      at.folder.path(), {"chat", "--no-color", "--approve", "ask"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("y");
  REQUIRE(riffle.read_next(" Running: "));
  riffle.type("hey");
  REQUIRE(riffle.read_next("> hey"));
  std::filesystem::remove(at.folder.path() / "wait");
  REQUIRE(riffle.read_next("[?]: Tab first"));
  REQUIRE(riffle.read_next("> hey"));
  std::string shown = "hey yes y";
  SECTION("a sentence") { riffle.type(" yes y"); }
  SECTION("a paste of 10,000 lines") {
    std::string lines = "\x1b[200~";
    for (int i = 0; i < 10'000; ++i) lines += "y\r\t";
    lines += "yes y\x1b[201~";
    for (std::size_t i = 0; i < lines.size(); i += 1000)
      riffle.type(lines.substr(i, 1000));
    shown = "hey[pasted text, 10,001 lines]";
  }
  REQUIRE(riffle.read_next(shown));
  CHECK_FALSE(at.has("made"));
  riffle.answer("\t");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("y");
  REQUIRE(riffle.read_next("You said: go"));
  CHECK(at.has("made"));
  REQUIRE(riffle.read_next(shown));  // what was typed stands at the prompt
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("an answer that comes too early is dropped, a text is not") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{writes("one") + writes("two")};
  terminal_program riffle{
      at.folder.path(), {"chat", "--no-color", "--approve", "ask"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("y");
  REQUIRE(riffle.read_next(ends));
  SECTION("an answer") { riffle.type("y"); }
  SECTION("the same once more") {
    riffle.type("y");
    REQUIRE(riffle.read_next("wait half a second"));
    riffle.type("y");
  }
  SECTION("a sentence that begins like one") {
    riffle.type("y");
    REQUIRE(riffle.read_next("wait half a second"));
    riffle.type("e");
    REQUIRE(riffle.read_next("> ye"));
    riffle.answer("\x7f\x7f");
  }
  REQUIRE(riffle.read_next(ends));  // behind half a second
  CHECK_FALSE(at.has("two"));
  riffle.answer("y");
  REQUIRE(riffle.read_next("You said: go"));
  CHECK(at.has("two"));
  riffle.type("\x04");  // leaves, since nothing stands in the line
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a stray key locks no question") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{writes("made")};
  terminal_program riffle{
      at.folder.path(), {"chat", "--no-color", "--approve", "ask"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("go\r");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("\x1b[C");
  REQUIRE(riffle.read_next("[?]: wait half a second"));
  REQUIRE(riffle.read_next(ends));
  // A letter that is none stands in the input line until it is taken away.
  riffle.answer("x");
  REQUIRE(riffle.read_next("[?]: Tab first"));
  riffle.answer("\x7f");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("a");
  REQUIRE(riffle.read_next("[b]ack > "));
  riffle.answer("?");
  REQUIRE(riffle.read_next("[b]ack > "));
  CHECK_FALSE(at.has("made"));
  riffle.answer("b");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("y");
  REQUIRE(riffle.read_next("You said: go"));
  CHECK(at.has("made"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a terminal that shows no UTF-8 gets ASCII") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{
      "text = \"Größe — “so” 日本 …\\n\\n| a | b |\\n|---|---|\\n| ✓ | ✗ |"
      "\\n\"\n" +
      bash("sleep 0.5; touch made é")};
  terminal_program riffle{
      at.folder.path(), {"run", "--no-color", "go"}, 80, "xterm", "C"};
  REQUIRE(riffle.read_next(ends));
  CHECK(riffle.written().find("| sleep 0.5; touch made \\u{e9}") !=
        std::string::npos);
  CHECK(riffle.written().find("Gro?e - \"so\" ???? ~") != std::string::npos);
  CHECK(riffle.written().find("+ | x") != std::string::npos);
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.has("made"));
  CHECK(riffle.written().find(" Running: sleep") != std::string::npos);
  for (const char c : riffle.written())
    CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("a dumb terminal is answered in lines, and gets no sequence") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{bash("touch made") + writes("other")};
  terminal_program riffle{at.folder.path(), {"run", "go"}, 80, "dumb"};
  REQUIRE(riffle.read_next(ends));
  riffle.type("?\n");
  REQUIRE(riffle.read_next(ends));
  riffle.type("yes\n");
  REQUIRE(riffle.read_next("Writing other"));
  REQUIRE(riffle.read_next(ends));
  riffle.type("n not that\n");
  CHECK(riffle.finish() == 0);
  CHECK(at.has("made"));
  CHECK_FALSE(at.has("other"));
  CHECK(riffle.written().find('\x1b') == std::string::npos);
  CHECK(riffle.written().find("not that") != std::string::npos);
}

TEST_CASE("the new content of a file is edited, and its diff shown") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{writes("notes.md")};
  at.folder.write("notes.md", "one\n");
  at.edits_with("echo mine > \"$1\"");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  ::unsetenv("VISUAL");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("e");
  REQUIRE(riffle.read_next("with your arguments? "));
  CHECK(seen(riffle,
             "[APPROVAL] write: Writing notes.md (as you changed it)\n"
             "│ @@ -1 +1 @@\n│ -one\n│ +mine\n"));
  CHECK_FALSE(seen(riffle, "+new"));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("notes.md") == "mine\n");
}

TEST_CASE("who edits an edit has the whole file") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{
      "[[steps.calls]]\ntool = \"edit\"\narguments = { path = \"notes.md\", "
      "old_string = \"two\", new_string = \"2\" }\n"};
  at.folder.write("notes.md", "one\ntwo\nthree\n");
  at.edits_with("cp \"$1\" seen; sed -i s/three/3/ \"$1\"");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  ::unsetenv("VISUAL");
  REQUIRE(riffle.read_next(ends));
  riffle.answer("e");
  REQUIRE(riffle.read_next("with your arguments? "));
  CHECK(at.text_of("seen") == "one\n2\nthree\n");
  CHECK(seen(riffle, "│ -two\n│ -three\n│ +2\n│ +3\n"));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("notes.md") == "one\n2\n3\n");
}

TEST_CASE("what the editor left is kept if it cannot be used") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{bash("touch made")};
  at.edits_with(
      "cat \"$1\" >> seen; if [ -e once ]; then echo touch mine > \"$1\"; "
      "else printf 'broken \\377' > \"$1\"; touch once; fi");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  ::unsetenv("VISUAL");
  REQUIRE(riffle.read_next("bash wants to run:\r\n│ touch made\r\nRun it? "));
  REQUIRE(riffle.read_next(ends));
  riffle.answer("e");
  REQUIRE(riffle.read_next("This cannot be used: "));
  REQUIRE(riffle.read_next(ends));
  riffle.answer("e");
  REQUIRE(riffle.read_next("│ touch mine\r\nRun it with your arguments? "));
  CHECK(at.text_of("seen") == "touch made\nbroken \377");
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(std::filesystem::exists(at.folder.path() / "mine"));
  CHECK_FALSE(std::filesystem::exists(at.folder.path() / "made"));
}

TEST_CASE("Ctrl-D on a dumb terminal is a no of somebody who is there") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const asking_place at{writes("one") + writes("two")};
  terminal_program riffle{at.folder.path(), {"run", "go"}, 80, "dumb"};
  REQUIRE(riffle.read_next(ends));
  riffle.type("\x04");
  REQUIRE(riffle.read_next("Writing two"));
  REQUIRE(riffle.read_next(ends));
  riffle.type("yes\n");
  CHECK(riffle.finish() == 0);
  CHECK_FALSE(at.has("one"));
  CHECK(at.has("two"));
  CHECK(riffle.written().find("nobody is there") == std::string::npos);
}
