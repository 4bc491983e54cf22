// SPDX-License-Identifier: MIT
// Who resumes a run at a terminal is asked, however it was begun.
#include <filesystem>
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::eventually;
using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

/// A run that was killed in its first call, and writes a file in its next one.
struct killed_run {
  killed_run() {
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch begun; sleep 60" }
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "notes.md", content = "two\n" }
[[steps]]
text = "End."
)toml");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    terminal_program first{folder.path(),
                           {"run", "go", "--session", "s1", "--approve", "all"},
                           99};
    REQUIRE(eventually([&] { return has("begun"); }));
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  temp_folder folder;
};

constexpr auto prompt = "[s]top, [?] > ";

}  // namespace

TEST_CASE("a run that needed nobody's yes asks the person who resumes it") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const killed_run x;
  terminal_program again{x.folder.path(), {"sessions", "resume", "s1"}, 99};
  // What nobody knows is said before all else.
  REQUIRE(
      again.read_next("how far it came:\r\n  bash: touch begun; sleep 60\r\n"));
  CHECK(again.written().find("[TOOL]") == std::string::npos);
  REQUIRE(again.read_next(prompt));
  CHECK_FALSE(x.has("notes.md"));
  again.answer("y");
  CHECK(again.finish() == 0);
  CHECK(x.has("notes.md"));
}

TEST_CASE("who resumes with a choice is not asked") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const killed_run x;
  const std::string choice = GENERATE("all", "none");
  terminal_program again{
      x.folder.path(), {"sessions", "resume", "s1", "--approve", choice}, 99};
  CHECK(again.finish() == 0);
  CHECK(again.written().find(prompt) == std::string::npos);
  CHECK(x.has("notes.md") == (choice == "all"));
}

TEST_CASE("of what was approved before it was killed a run says no more") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "notes.md", content = "one\n" }
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "test -e begun || { touch begun; sleep 60; }" }
[[steps]]
text = "End."
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  {
    terminal_program first{folder.path(), {"run", "go", "--session", "s1"}, 99};
    REQUIRE(first.read_next(prompt));
    first.answer("y");
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(folder.path() / "begun"); }));
  }
  terminal_program again{
      folder.path(), {"sessions", "resume", "s1", "--no-color"}, 99};
  CHECK(again.finish() == 0);
  INFO(again.written());
  CHECK(again.written().find("[TOOL] write: notes.md (+1 -0)") !=
        std::string::npos);
  CHECK(again.written().find("[APPROVAL]") == std::string::npos);
}
