// SPDX-License-Identifier: MIT
// The list below the line of a conversation, on a pseudo-terminal.
#include <algorithm>
#include <filesystem>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

constexpr auto quick = R"toml(
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

constexpr auto slow = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

struct talk {
  explicit talk(const std::string& script = quick, unsigned short width = 80,
                const std::string& term = "xterm",
                const std::string& locale = "")
      : columns{width},
        riffle{prepared(script), {"chat", "--no-color"}, width, term, locale} {
    REQUIRE(riffle.read_next("/help shows"));
    REQUIRE(riffle.read_next("> "));
  }
  const std::filesystem::path& prepared(const std::string& script) const {
    folder.write("s.toml", script);
    folder.write("src/Policy.cpp", "x");
    folder.write("src/日本/policy of tea.md", "x");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[tools.bash]\napproval = \"allow\"\n"
                 "[agents.writer]\nsystem_prompt = \"You write.\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    return folder.path();
  }
  [[nodiscard]] std::string picture() const {
    terminal_picture out{columns};
    out.feed(riffle.written());
    return out.text();
  }
  /// Types, and reads up to what it comes to.
  void type(const std::string& keys, const std::string& text) {
    CAPTURE(keys, text);
    riffle.type(keys);
    INFO(riffle.written());
    REQUIRE(riffle.read_next(text));
  }
  /// What stands there when nothing is left in the line.
  void leave() {
    riffle.type("\x15\x04");
    CHECK(riffle.finish() == 0);
    const auto text = picture();
    INFO(text);
    // Nothing of a list stays.
    CHECK(text.find("  > ") == std::string::npos);
    CHECK(text.find("    /") == std::string::npos);
  }

  temp_folder folder;
  unsigned short columns;
  terminal_program riffle;
};

constexpr auto down = "\x1b[B";
constexpr auto up = "\x1b[A";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a '/' opens a list, letters narrow it, Esc closes it") {
  if (!has_terminals()) return skip(no_terminals);
  for (const unsigned short width : {60, 80, 200}) {
    CAPTURE(width);
    talk x{quick, width};
    x.type("/", "    1 of 19");
    CHECK(has(x.picture(),
              "> /\n"
              "  > /help                    what can be typed "
              "here\n"
              "    /new "));
    x.type("co", "    /compact");
    CHECK(has(x.picture(),
              "> /co\n"
              "  > /context  what the model has been told\n"
              "    /cost     tokens of this session\n"
              "    /compact  go on with a summary of this "
              "session\n"));
    x.type("\x1b", "> /co\r> /co");
    CHECK(x.picture().ends_with("> /co\n"));
    // Not for this word.
    x.type("s", "> /cos");
    CHECK(x.picture().ends_with("> /cos\n"));
    x.type("t\r", "Nothing yet.");
    x.leave();
  }
}

TEST_CASE("arrows choose of the list, Enter sends what is whole by then") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.type("/co", "  > /context");
  x.type(down, "  > /cost");
  x.type(down, "  > /compact");
  x.type(up, "  > /cost");
  x.type("\r", "Nothing yet.");
  CHECK(has(x.picture(), "> /cost\nNothing yet."));
  // One that needs words waits for them.
  REQUIRE(x.riffle.read_next("> "));
  x.type("/ti", "  > /title TEXT");
  x.type("\r", "> /title ");
  x.type("Of tea\r", "is called: Of tea");
  x.leave();
}

TEST_CASE("the next line has a list of what there is by then") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.type("/", "    1 of 19");
  x.type("cost", "    /cost");
  x.type("\r", "Nothing yet.");
  REQUIRE(x.riffle.read_next("> "));
  x.folder.write(".riffle/commands/mend.md", "Mend it.\n");
  x.type("/", "    1 of 20");
  x.leave();
}

TEST_CASE("Tab completes, and names stand behind a command") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.type("/ag", "  > /agent [NAME]");
  x.type("\t", "    default  model default");
  CHECK(has(x.picture(),
            "> /agent\n"
            "    default  model default\n"
            "    writer   model default\n"));
  x.type("w", "  > writer");
  x.type("\r", "writer");
  REQUIRE(x.riffle.read_next("> "));
  CHECK(has(x.picture(), "> /agent writer\n"));
  x.leave();
}

TEST_CASE("an '@' has paths, and an Enter that takes one does not send it") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{quick, 60};
  x.type("see @poli", "  > src/Policy.cpp");
  CHECK(has(x.picture(),
            "> see @poli\n"
            "  > src/Policy.cpp\n"
            "    src/日本/policy of tea.md\n"));
  x.type(down, "  > src/日本/policy of tea.md");
  x.type("\r", "> see @\"src/日本/policy of tea.md\" ");
  CHECK(x.picture().ends_with("> see @\"src/日本/policy of tea.md\"\n"));
  x.type("and @sr", "  > src/");
  x.type("\t", "    src/Policy.cpp");
  x.type("P", "  > src/Policy.cpp");
  x.type("\t:1\r", "You said: see");
  CHECK(has(x.picture(), "@src/Policy.cpp:1\n"));
  x.leave();
}

TEST_CASE("what was typed before comes back by arrows, without a list") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.type("one\r", "You said: one");
  REQUIRE(x.riffle.read_next("> "));
  x.type("/cost\r", " tokens in");
  REQUIRE(x.riffle.read_next("> "));
  x.type(up, "> /cost");
  CHECK(x.picture().ends_with("> /cost\n"));
  x.type(up, "> one");
  x.type(down, "> /cost");
  // A letter opens one, and takes it away again.
  x.type("\x7f\x7f\x7f", "> /c");
  x.type("o", "  > /context");
  x.leave();
}

TEST_CASE("what is pasted opens no list, and is sent as it is") {
  if (!has_terminals()) return skip(no_terminals);
  talk x;
  x.type("\x1b[200~/mod\x1b[201~", "> /mod");
  CHECK(x.picture().ends_with("> /mod\n"));
  x.type("\r", "there is no /mod");
  REQUIRE(x.riffle.read_next("> "));
  // So is what comes in one burst: nobody has seen a list.
  x.type("/mod\r", "there is no /mod");
  x.leave();
}

TEST_CASE("a list stands below what is typed while a run works") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.type("one\r", "Running: touch a");
  x.type("/co", "  > /context");
  x.type(down, "  > /cost");
  CHECK(has(x.picture(),
            "> /co\n"
            "    /context  what the model has been told\n"
            "  > /cost     tokens of this session\n"));
  // Esc closes it, and stops nothing.
  x.type("\x1b", "> /co\x1b[?7h");
  x.type("s", "> /cos\x1b[?7h");
  CHECK_FALSE(has(x.riffle.written(), "Stopped after "));
  x.type("\x15/cos", "  > /cost");
  x.type("\r", " tokens in");
  x.type("@poli", "  > src/Policy.cpp");
  x.type("\t", "> @src/Policy.cpp ");
  x.type("\x15two", "> two");
  REQUIRE(eventually(
      [&] { return std::filesystem::remove(x.folder.path() / "a"); }));
  REQUIRE(x.riffle.read_next("You said: one"));
  REQUIRE(x.riffle.read_next("> two"));
  x.leave();
}

TEST_CASE("a terminal that cannot erase has no list") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{quick, 80, "dumb"};
  x.riffle.type("/cost\n");
  REQUIRE(x.riffle.read_next("Nothing yet."));
  CHECK_FALSE(has(x.riffle.written(), "tokens of this session"));
  x.riffle.type("\x04");
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("a terminal without UTF-8 has one of ASCII") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{quick, 60, "xterm", "C"};
  x.type("@tea", "  > src/");
  CHECK(std::ranges::all_of(x.riffle.written(),
                            [](unsigned char c) { return c < 0x80; }));
  x.leave();
}
