// SPDX-License-Identifier: MIT
// The question of a plan's step at a pseudo-terminal.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

TEST_CASE("the question of a step says which it is, and no line its answer") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  folder.write("s.toml", "[[steps]]\ntext = \"End.\"\n");
  folder.write("p.toml", R"toml(
[[steps]]
id = "one"
tool = "write"
arguments = { path = "first.md", content = "x\n" }
[[steps]]
id = "two"
tool = "write"
arguments = { path = "second.md", content = "y\n" }
)toml");
  constexpr auto prompt = "[s]top the plan, [?] > ";
  std::vector<std::string> words{"plan", "--no-color", "p.toml"};
  if (GENERATE(true, false)) words.emplace_back("-v");
  terminal_program riffle{folder.path(), words, 100};
  REQUIRE(riffle.read_next("[1/2] write: Writing first.md"));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("y");
  REQUIRE(riffle.read_next("[2/2] write: Writing second.md"));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(std::filesystem::exists(folder.path() / "second.md"));
  CHECK(riffle.written().find("approved by") == std::string::npos);
}
