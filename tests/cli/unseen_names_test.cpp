// SPDX-License-Identifier: MIT
// A name with characters that nobody sees looks like no other where a person
// decides.
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/approval_picture.hpp"
#include "runtime/cli/view/changes_text.hpp"
#include "runtime/cli/view/proposal_text.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

bool has_name(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("two names that look alike are shown as what they are") {
  for (const auto* name : {"a\u200B.md", "a\u2060.md", "a\u00AD.md",
                           "a\uFE0F.md", "a\U000E0041.md", "a\u3164.md",
                           "a.md ", " a.md", "a  b.md", "a\n.md"}) {
    CAPTURE(name);
    const auto shown = exact_name(name, 100);
    CHECK(shown != name);
    CHECK(has_name(shown, "\\"));
    CHECK(exact_text(shown) == shown);
  }
  CHECK(exact_name("a\u200B b ", 100) == "a\\u{200b} b\\u{0020}");
  CHECK(exact_name("日本 é.md", 100) == "日本 é.md");
  CHECK(exact_name("abcdef", 3) == "abc…");
  CHECK(exact_name("a" + std::string(200, ' ') + ".sh", 100) ==
        "a\\u{0020}×200.sh");
  CHECK(exact_name(std::string(9, ' '), 100) == "\\u{0020}×9");
  CHECK(exact_line("a\nb \u200B", 100) == "a b \\u{200b}");
}

TEST_CASE("rows of proposals, heads of changes and titles show such names") {
  service::proposal_view view;
  view.it.what.source = events::proposal_source::tool_call;
  view.it.what.tool = "write";
  view.it.what.title = "Writing notes\u200B.md ";
  view.it.what.folder = "/work\u2060";
  const auto row = summary_text(view, {}, {});
  CHECK(has_name(row, "write: notes\\u{200b}.md\\u{0020}  ("));
  CHECK(has_name(row, "in /work\\u{2060})"));
  CHECK(has_name(whole_text(view, {}), "write: notes\\u{200b}.md\\u{0020}\n"));
  view.it.what.tool = "bash";
  view.it.what.title = "Running: rm \u200Ba";
  CHECK(has_name(summary_text(view, {}, {}), "bash: rm \\u{200b}a  ("));

  CHECK(change_text("notes\u200B.md", "@@ -1 +1 @@\n-a\n+b\n", {})
            .starts_with("notes\\u{200b}.md  +1 -1\n"));

  events::approval_required asked;
  asked.tool = "write";
  asked.title = "[1/2] Writing notes\u200B.md ";
  asked.arguments =
      nlohmann::json{{"path", "notes\u200B.md "}, {"content", "x"}}.dump();
  const auto rows = approval_picture(asked, false, {.columns = 100});
  REQUIRE_FALSE(rows.empty());
  CHECK(has_name(rows[0], "[1/2] write: Writing notes\\u{200b}.md\\u{0020}"));
}

TEST_CASE("what /undo asks names such files as they are") {
  using riffle::testing::terminal_program;
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const riffle::testing::temp_folder folder;
  folder.write("s.toml",
               "[[steps]]\n[[steps.calls]]\ntool = \"write\"\n"
               "arguments = { path = \"a\\u200B.md\", content = \"x\" }\n"
               "[[steps]]\ntext = \"It is done.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{
      folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("go\r");
  REQUIRE(at.read_next(" done."));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/undo\r");
  REQUIRE(at.read_next("changed in 1 file: a\\u{200b}.md?"));
  at.type("y\r");
  REQUIRE(at.read_next("Taken back: a\\u{200b}.md."));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("\x04");
  CHECK(at.finish() == 0);
}
