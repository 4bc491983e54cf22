// SPDX-License-Identifier: MIT
// Another model where the runtime that it needs cannot be had.
#include <filesystem>
#include <fstream>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

TEST_CASE("a conversation that no runtime can be had for ends and says so") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  std::filesystem::rename(folder.path() / "data", folder.path() / "away");
  folder.write("data", "no folder");
  at.type("/model ollama/some\r");
  REQUIRE(at.read_next("The conversation ends: neither this model"));
  CHECK(at.finish() == 1);
}
