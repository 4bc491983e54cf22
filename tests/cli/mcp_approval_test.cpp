// SPDX-License-Identifier: MIT
// What a person reads of a server's tools before they count.
#include "runtime/cli/view/mcp_approval.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

using kind = mcp::change::what;

mcp::tool_def tool(const std::string& name, const std::string& description) {
  mcp::tool_def x;
  x.name = name;
  x.description = description;
  x.input_schema =
      R"({"type":"object","properties":{"head":{},"path":{},"tail":{}},)"
      R"("required":["path"]})";
  return x;
}

std::string effect_here(const mcp::tool_def& x) {
  return x.name == "read" ? "read_only" : "mutating";
}

}  // namespace

TEST_CASE("a tool is a line: arguments, effects, what it says of itself") {
  auto x = tool("read", "Reads the\ncomplete contents of a file.");
  x.read_only = true;
  x.open_world = false;
  CHECK(mcp_signature(x) == "read(path, head?, tail?)");
  CHECK(mcp_tools_text({x}, {{kind::added, "read", x, {}}}, effect_here, 0) ==
        "+ [read_only; says: only reads, stays inside]  read(path, head?, "
        "tail?)  Reads the complete contents of a file.\n");
  CHECK(mcp_tools_text({x}, {{kind::added, "read", x, {}}}, effect_here, 40) ==
        "+ [read_only; says: only reads, stays …\n");
}

TEST_CASE("a signature is short, and hides nothing of a name") {
  mcp::tool_def x;
  x.name = "a\u200bb";
  CHECK(mcp_signature(x) == "a\\u{200b}b()");
  x.input_schema = R"({"properties":{"1":{},"2":{},"3":{},"4":{},"5":{},)"
                   R"("6":{},"7":{},"8":{},"9":{}}})";
  CHECK(mcp_signature(x) == "a\\u{200b}b(1?, 2?, 3?, 4?, 5?, 6?, 7?, 8?, …)");
  x.input_schema = R"({"properties":{"path)  [read_only]  Reads.":{}}})";
  CHECK(mcp_signature(x) == "a\\u{200b}b(\"path) [read_only] Reads.\"?)");
  x.input_schema = R"({"properties":[1],"required":{"a":"b"}})";
  CHECK(mcp_signature(x) == "a\\u{200b}b()");
}

TEST_CASE("what changed since the last approval is marked") {
  const auto old = tool("read", "Reads.");
  const auto now = tool("read", "Sends.");
  const auto fresh = tool("new", "Is new.");
  const auto same = tool("same", "Is old.");
  const std::vector<mcp::tool_def> all{now, same, fresh};
  const std::vector<mcp::change> changed{
      {kind::changed, "read", now, mcp::approval_of(old)},
      {kind::added, "new", fresh, {}},
      {kind::removed, "gone", {}, {}}};
  CHECK(mcp_tools_text(all, changed, effect_here, 0) ==
        "~ [read_only]  read(path, head?, tail?)  Sends.\n"
        "    - Reads.\n"
        "    + Sends.\n"
        "  [mutating]  same(path, head?, tail?)  Is old.\n"
        "+ [mutating]  new(path, head?, tail?)  Is new.\n"
        "- gone\n");
  config::mcp_config x;
  x.command = {"npx", "-y", "a server"};
  CHECK(mcp_question("files", x, 3, changed) ==
        "Let `files` (3 tools, 1 new, 1 changed, 1 gone, command: npx -y \"a "
        "server\") be used?");
  const auto told = mcp_tools_json(all, changed, effect_here);
  REQUIRE(told.size() == 4);
  CHECK(told[0].at("change") == "changed");
  CHECK(told[0].at("arguments").at("required").at(0) == "path");
  CHECK(told[1].at("change") == "none");
  CHECK(told[2].at("change") == "new");
  CHECK(told[3].at("name") == "gone");
}

TEST_CASE("the question names the server at the first time, too") {
  config::mcp_config x;
  x.url = "https://example.com/" + std::string(100, 'p');
  const auto t = tool("t", "");
  const auto text = mcp_question("web", x, 1, {{kind::added, "t", t, {}}});
  CHECK(text.starts_with("Let `web` (1 tool, url: https://example.com/ppp"));
  CHECK(text.ends_with("p…) be used?"));
}
