// SPDX-License-Identifier: MIT
// An answer from another terminal that allows further calls: both say so.
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

TEST_CASE("what is allowed for always elsewhere is said in both terminals") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch made" }
[[steps]]
text = "It is done."
)toml");
  constexpr auto allowed = "From now on without a question: every call of bash";
  terminal_program at{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next("[?] > "));
  terminal_program list{
      folder.path(), {"proposals", "list", "--output", "jsonl"}, 200};
  REQUIRE(list.finish() == 0);
  const auto from = list.written().find("prop_");
  REQUIRE(from != std::string::npos);
  const auto id =
      list.written().substr(from, list.written().find('"', from) - from);
  terminal_program other{
      folder.path(), {"proposals", "approve", id, "--always", "tool"}, 200};
  CHECK(other.finish() == 0);
  INFO(other.written());
  CHECK(other.written().find(allowed) != std::string::npos);
  REQUIRE(at.read_next("It is done."));
  const auto& all = at.written();
  CAPTURE(all);
  CHECK(all.find(allowed) != std::string::npos);
  CHECK(all.find(allowed) == all.rfind(allowed));
  CHECK(all.find("approved elsewhere") != std::string::npos);
  at.type("\x04");
  CHECK(at.finish() == 0);
  terminal_program back{
      folder.path(), {"proposals", "always", "--revoke", id}, 200};
  CHECK(back.finish() == 0);
  CHECK(back.written() == "What " + id +
                              " allowed is taken back: further calls are "
                              "asked about.\r\n");
}
