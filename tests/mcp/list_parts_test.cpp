// SPDX-License-Identifier: MIT
// A list of which some item cannot be read.
#include "tools/mcp/list_parts.hpp"

#include "tests/support/catch.hpp"
#include "tools/mcp/protocol.hpp"

using namespace riffle::mcp;

namespace {

std::string nested(std::size_t depth) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i)
    out += R"({"type":"object","properties":{"x":)";
  out += "{}";
  for (std::size_t i = 0; i < depth; ++i) out += "}}";
  return out;
}

std::string tool_text(const std::string& name, const std::string& schema) {
  return R"({"name":")" + name + R"(","inputSchema":)" + schema + "}";
}

std::string answer_text(const std::string& tools) {
  return R"({"jsonrpc":"2.0","id":1,"result":{ "tools" : [)" + tools +
         R"(] , "nextCursor":"two"}})";
}

}  // namespace

TEST_CASE("a tool that cannot be read costs itself, and no other") {
  const auto twice =
      R"({"type":"object","properties":{"a":{},"a":{"type":"string"}}})";
  const auto text =
      answer_text(tool_text("deep", nested(200)) + " , " +
                  tool_text("good", R"({"type":"object"})") + "," +
                  tool_text("twice", twice) + ",{\"name\":7,\"name\":8}");
  rpc_core core;
  rpc_effects out;
  REQUIRE(core.request("tools/list", {}, false, out) == 1);
  out.clear();
  core.on_text(text, out);
  REQUIRE(out.size() == 1);
  const auto& result = std::get<json>(std::get<settled>(out[0]).how);
  page_reader pages{"tools"};
  const auto next = pages.on_page(result);
  REQUIRE(next);
  CHECK(*next == "two");
  std::vector<std::string> problems;
  const auto tools = read_tools(pages.items(), problems);
  REQUIRE(tools.size() == 1);
  CHECK(tools[0].name == "good");
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].starts_with("deep: its definition cannot be read"));
  CHECK(problems[1].starts_with("twice: its definition cannot be read"));
  // Any other answer of the kind is the end of its request.
  REQUIRE(core.request("tools/call", {}, false, out) == 2);
  out.clear();
  core.on_text(R"({"id":2,"result":{"tools":[],"a":1,"a":2}})", out);
  CHECK(std::holds_alternative<rpc_error>(std::get<settled>(out[0]).how));
}

TEST_CASE("what is no list is not read in parts") {
  for (const auto* text :
       {"", "[]", "{", "{}", R"({"result":[]})", R"({"result":{}})",
        R"({"result":{"tools":{}}})", R"({"result":{"tools":[1,]}})",
        R"({"result":{"tools":[1}})", R"({"result":{"tools":[]})",
        R"({"result":{"tools":[],"tools":[1]}})",
        R"({"result":{"tools":[]},"result":{"tools":[]}})",
        R"({"result":{"tools":[]},"error":{}})", R"({"result":{"tools":["a)",
        R"({"result":{"tools":["a\)", R"({result:{"tools":[]}})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_in_parts(text, "tools"));
  }
}

TEST_CASE("a list is read in parts as it is as a whole") {
  const json items = {1,
                      "a,]}\"\\",
                      {{"b", json::array({json::array(), nullptr, true})}},
                      json::array(),
                      -2.5,
                      json::object()};
  const json whole = {{"id", 1},
                      {"result", {{"tools", items}, {"x", "\xC3\xA9"}}}};
  for (const int indent : {-1, 1}) {
    const auto read = read_in_parts(whole.dump(indent), "tools");
    REQUIRE(read);
    CHECK(*read == whole.at("result"));
  }
}

TEST_CASE("what is wrong with a tool is told in short") {
  const json bad = {
      {"name", "long"},
      {"inputSchema",
       {{"type", "object"},
        {"properties",
         {{"a", {{"type", "string"}, {"pattern", std::string(4000, '(')}}}}}}}};
  std::vector<std::string> problems;
  CHECK(read_tools({bad}, problems).empty());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].starts_with("long: its schema is none"));
  CHECK(problems[0].size() < 400);
}
