// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/terminal_kind.hpp"

#include <filesystem>

#include "runtime/cli/commands/chat_completion.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("what stands for a character is ASCII and as wide") {
  for (const auto* text :
       {"Größe … — “so”", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "│ a │ ✓ ✗ •", "日本 עברית",
        "👍 e\u0301", "ﬁne ½ №", "\xff\xfe?"}) {
    const auto out = in_ascii(text);
    CAPTURE(text, out);
    CHECK(columns_of(out) == columns_of(text));
    for (const char c : out) CHECK(static_cast<unsigned char>(c) < 0x80);
  }
  CHECK(in_ascii("Größe …") == "Gro?e ~");
  // Each mark of a row has one: "?" would be a question.
  CHECK(in_ascii("▶ ↻ ✓ ✗ · ▸ → ␣") == "> * + x . > > _");
  CHECK(in_ascii("⠋⠙⠹⠸") != std::string(4, in_ascii("⠋")[0]));
  CHECK(in_ascii("\x1b[31mé\x1b[0m\r\n") == "\x1b[31me\x1b[0m\r\n");
}

TEST_CASE("a light background is known by the last number") {
  CHECK(is_light("0;15"));
  CHECK(is_light("0;default;7"));
  CHECK_FALSE(is_light("15;0"));
  CHECK_FALSE(is_light("15"));
  CHECK_FALSE(is_light(""));
  CHECK_FALSE(is_light(nullptr));
}

TEST_CASE("colours that are pale on light ground are changed, no others") {
  CHECK(in_light_colors(
            "\x1b[36mx\x1b[0m \x1b[2m[TOOL]\x1b[0m \x1b[31m-\x1b[J") ==
        "\x1b[34mx\x1b[0m \x1b[90m[TOOL]\x1b[0m \x1b[31m-\x1b[J");
}

TEST_CASE("the theme and the window's title on a real terminal") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml",
               "[[steps]]\ntext = \"Some `code`.\"\n[[steps.calls]]\ntool = "
               "\"bash\"\narguments = { command = \"sleep 1.2\" }\n[[steps]]\n"
               "text = \"The `end`.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  for (const std::string theme : {"dark", "light"}) {
    CAPTURE(theme);
    terminal_program riffle{folder.path(), {"run", "go", "--theme", theme}, 80};
    CHECK(riffle.finish() == 0);
    const auto& all = riffle.written();
    const auto has = [&all](const std::string& part) {
      return all.find(part) != std::string::npos;
    };
    const bool light = theme == "light";
    CHECK(has("\x1b[34mcode\x1b[0m") == light);
    CHECK(has("\x1b[36mcode\x1b[0m") != light);
    CHECK(has("\x1b[90m[TOOL]\x1b[0m") == light);
    CHECK(has("\x1b[2m[TOOL]\x1b[0m") != light);
    // The title of before is kept first, and back at the end.
    const auto kept = all.find("\x1b[22;2t\x1b]2;riffle: ");
    REQUIRE(kept != std::string::npos);
    CHECK(has("\x1b]2;riffle: Running: sleep 1.2\x1b\\"));
    CHECK(all.find("\x1b[22;2t", kept + 1) == std::string::npos);
    CHECK(all.find("\x1b[23;2t", kept) > all.rfind("\x1b]2;"));
    CHECK(has("\x1b[23;2t"));
  }
  terminal_program dumb{folder.path(), {"run", "go"}, 80, "dumb"};
  CHECK(dumb.finish() == 0);
  CHECK(dumb.written().find('\x1b') == std::string::npos);
}

TEST_CASE("Tab completes prompts of servers beside commands") {
  const std::vector<std::string> prompts{"files__review", "files__report"};
  CHECK(complete_chat("/files__rev", 80, prompts).by == "/files__review ");
  CHECK(complete_chat("/fi", 80, prompts).by == "/files__re");
  CHECK(complete_chat("/he", 80, prompts).by == "/help ");
  const auto both = complete_chat("/files__re", 80, prompts);
  CHECK(both.by.empty());
  CHECK(both.choices == "  /files__review\n  /files__report\n");
  CHECK(complete_chat("/fi", 80, {}).by.empty());
}

TEST_CASE("on a dumb terminal each input stands behind a prompt of its own") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch begun; until test -e go; do sleep 0.02; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  terminal_program riffle{folder.path(), {"chat"}, 80, "dumb"};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("first\n");
  REQUIRE(eventually(
      [&] { return std::filesystem::exists(folder.path() / "begun"); }));
  riffle.type("second\n");  // the terminal shows it here
  REQUIRE(riffle.read_next("second\r\n"));
  folder.write("go", "");
  REQUIRE(riffle.read_next("You said: first\r\n"));
  REQUIRE(riffle.read_next("> second\r\n"));
  REQUIRE(riffle.read_next("You said: second\r\n"));
  riffle.type("/quit\n");
  CHECK(riffle.finish() == 0);
}
