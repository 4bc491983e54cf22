// SPDX-License-Identifier: MIT
// What a person reads while a tool of a server works.
#include <memory>

#include "tests/support/catch.hpp"
#include "tools/mcp/mcp_tool.hpp"

using namespace riffle::mcp;

TEST_CASE("the title of a call has the argument that says most") {
  server_options how;
  how.name = "files";
  const auto at = std::make_shared<server>(how);
  tool_def about;
  about.name = "read_text_file";
  about.input_schema = R"({"type":"object"})";
  const auto tool = make_tool(at, about, {}, false, "npx");
  CHECK(tool->title({{"head", 3}, {"path", "README.md"}}) ==
        "Using files to read text file: README.md");
  CHECK(tool->title(json::object()) == "Using files to read text file");
}
