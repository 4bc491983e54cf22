// SPDX-License-Identifier: MIT
// What is taken back is named as the model named it: by whole paths, too.
#include <filesystem>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

TEST_CASE("a change that the model named by its whole path is taken back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  const auto file = folder.path() / "made.txt";
  folder.write("s.toml",
               "[[steps]]\n[[steps.calls]]\ntool = \"write\"\narguments = { "
               "path = \"" +
                   file.string() +
                   "\", content = \"x\" }\n[[steps]]\n[[steps.calls]]\ntool "
                   "= \"edit\"\narguments = { path = \"made.txt\", "
                   "old_string = \"x\", new_string = \"y\" }\n"
                   "[[steps]]\ntext = \"Done.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{
      folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next("Done."));
  CHECK(std::filesystem::exists(file));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/undo\r");
  REQUIRE(at.read_next("[y]es, [n]o > "));
  at.type("y\r");
  REQUIRE(at.read_next("Taken back: "));
  CHECK_FALSE(std::filesystem::exists(file));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}

TEST_CASE("what was gone already is told apart from what is taken back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "a.txt", content = "x" }
[[steps.calls]]
tool = "write"
arguments = { path = "sub/b.txt", content = "x" }
[[steps]]
text = "Done."
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{
      folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next("Done."));
  std::filesystem::remove(folder.path() / "sub" / "b.txt");
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/undo\r");
  REQUIRE(at.read_next("sub/b.txt is as before already.\r\n"));
  REQUIRE(at.read_next("Take back what \"go\" changed in 1 file: a.txt?"));
  REQUIRE(at.read_next("[y]es, [n]o > "));
  at.type("y\r");
  REQUIRE(at.read_next("Taken back: a.txt. sub/b.txt was as before already. "));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "a.txt"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/undo\r");
  REQUIRE(at.read_next("There is no change to take back."));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}
