// SPDX-License-Identifier: MIT
// Tables [mcp.NAME] that are taken out, servers of other clients that are taken
// over, and what a person is told of both.
#include "runtime/cli/view/mcp_text.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

using namespace riffle;
using cli::read_mcp_servers;
using nlohmann::json;

namespace {

bool told(const std::vector<std::string>& all, const std::string& part) {
  return std::ranges::any_of(all, [&](const std::string& x) {
    return x.find(part) != std::string::npos;
  });
}

cli::imported_servers import(const json& servers) {
  return read_mcp_servers({{"mcpServers", servers}});
}

}  // namespace

TEST_CASE("a table is taken out, and what belongs to the next one stays") {
  const auto without = [](const std::string& text) {
    return cli::without_mcp_table(text, "c").value_or("none");
  };
  CHECK(without("[mcp.c]\ncommand = [\"x\"]\n# of d\n# more of d\n[mcp.d]\n") ==
        "# of d\n# more of d\n[mcp.d]\n");
  CHECK(without("a = 1\n\n[mcp.\"c\"]\n# of c\nurl = \"x\"\n# c's\n\n# of d\n"
                "[mcp.d]\n") == "a = 1\n\n# of d\n[mcp.d]\n");
  CHECK(without("[mcp.c]\nx = 1\n[mcp.c.tools.t]\ny = 1\n# last\n") == "");
  CHECK(without("[mcp.d]\n") == "none");
}

TEST_CASE("what cannot be a server's name is told with its own") {
  const auto found = import({{"__", {{"command", "a"}}},
                             {"\u00e9", {{"command", "b"}}},
                             {"x", {{"command", "c"}}},
                             {"x_", {{"command", "d"}}}});
  REQUIRE(found.all.size() == 1);
  CHECK(found.all[0].first == "x");
  CHECK(told(found.problems, "\"__\": the name of a server has letters"));
  CHECK(told(found.problems, "\"\u00e9\": the name of a server has letters"));
  CHECK(told(found.problems, "x_: another one of the file is called x, too"));
}

TEST_CASE("a key among arguments is not written into a file") {
  const auto found = import(
      {{"a",
        {{"command", "npx"}, {"args", {"-y", "x", "--api-key", "s3cr3t"}}}},
       {"b", {{"command", "npx"}, {"args", {"--token=s3cr3t"}}}},
       {"c", {{"command", "docker"}, {"args", {"-e", "GITHUB_TOKEN=s3cr3t"}}}},
       {"d", {{"command", "npx"}, {"args", {"postgres://me:s3cr3t@host/db"}}}},
       {"e", {{"command", "x"}, {"args", {"--key", "/etc/key.pem"}}}},
       {"f", {{"command", "x"}, {"args", {"-e", "API_TOKEN", "--token"}}}}});
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[0].first == "e");
  CHECK(found.all[1].first == "f");
  CHECK(found.problems.size() == 4);
  CHECK(told(found.problems, "a: its argument --api-key holds a key"));
  CHECK(told(found.problems, "b: its argument --token holds a key"));
  CHECK(told(found.problems, "c: its argument GITHUB_TOKEN holds a key"));
  CHECK(told(found.problems, "d: its argument postgres://… holds a key"));
  CHECK_FALSE(told(found.problems, "s3cr3t"));
}

TEST_CASE("keys in headers and variables among arguments, too") {
  const auto bad = [](const std::vector<std::string>& words) {
    return import({{"a", {{"command", "npx"}, {"args", words}}}})
               .problems.size() == 1;
  };
  CHECK(bad({"mcp-remote", "https://h/mcp", "--header",
             "Authorization: Bearer s3cr3t"}));
  CHECK(bad({"--header=Authorization: Bearer s3cr3t"}));
  CHECK(bad({"--env=GITHUB_TOKEN=s3cr3t"}));
  CHECK(bad({"--secret-key", "wJalr/K7MDENG/bPxRfi"}));
  CHECK(bad({"--header", "X-Api-Key:s3cr3t"}));
  CHECK_FALSE(bad({"--header", "Authorization: Bearer ${TOKEN}"}));
  CHECK_FALSE(bad({"--header", "Accept: text/plain"}));
  CHECK_FALSE(bad({"--key", "certs/key.pem", "--env=LANG=C"}));
  CHECK_FALSE(bad({"https://host:8080/mcp", "a=b=c", "--"}));
}

TEST_CASE("what is not taken over from a server is told") {
  const auto found = import({{"a",
                              {{"command", "x"},
                               {"args", {1, nullptr, "y", "${dir}"}},
                               {"timeout", 60000},
                               {"alwaysAllow", {"t"}},
                               {"type", "stdio"}}},
                             {"b", {{"httpUrl", "https://example.com/mcp"}}},
                             {"c", {{"command", "x"}, {"enabled", false}}}});
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[0].second.command ==
        std::vector<std::string>{"x", "1", "y", "${dir}"});
  CHECK(found.all[1].second.url == "https://example.com/mcp");
  CHECK(told(found.notes, "a: not taken over: alwaysAllow, timeout"));
  CHECK(told(found.notes, "a: of args, null is no text"));
  CHECK(told(found.notes, "a: the argument \"${dir}\" names a variable"));
  CHECK(told(found.problems, "c: it is disabled there"));
}

TEST_CASE("a late tool that changed is shown by what changed in it") {
  const std::map<std::string, mcp::approved_tool> approved{
      {"t", {"old", "Does t\nsame\n", true}}};
  CHECK(cli::mcp_late_text({{"t", {"new", "Sends t\nsame\n"}}}, approved) ==
        "~ t  (it came while the server ran)\n    - Does t\n    + Sends t\n");
}

TEST_CASE("a list of servers says what of them nobody has read") {
  mcp::server_view x;
  x.name = "s";
  x.seen = {.approved = true, .other_advice = true};
  CHECK(cli::mcp_line(x).find(
            "  approved, what it says of its use changed since\n") !=
        std::string::npos);
  CHECK(mcp::to_json(x).at("advice_changed") == true);
}

TEST_CASE("a list of servers tells what another process knows of them") {
  mcp::server_view x;
  x.name = "s";
  x.state = "out of service";
  x.tools = 3;
  x.era = "modern";
  x.version = "2026-07-28";
  x.restarts = 1;
  x.last_error = "it ended with exit status 2\n\x1b[31m";
  x.process = 4711;
  CHECK(cli::mcp_line(x) ==
        "s               out of service modern 2026-07-28  3 tools  not "
        "approved  1 restart  in process 4711\n  ✗ it ended with exit status "
        "2 ^[[31m\n");
  const auto facts = mcp::to_json(x);
  CHECK(facts.at("process") == 4711);
  CHECK(facts.at("restarts") == 1);
  CHECK(facts.at("last_error") == x.last_error);
}

TEST_CASE(
    "who approves a server learns of calls that show what they would do") {
  mcp::tool_def tool;
  tool.name = "edit.file";
  tool.input_schema =
      R"({"type":"object","properties":{"dryRun":{"type":"boolean"}}})";
  mcp::tool_def other = tool;
  other.name = "other";
  other.input_schema =
      R"({"type":"object","properties":{"dryRun":{"type":"string"}}})";
  config::mcp_config settings;
  CHECK(cli::mcp_preview_hint("files", settings, {other}).empty());
  CHECK(cli::mcp_preview_hint("files", settings, {tool, other})
            .ends_with("    [mcp.files.tools.\"edit.file\"]\n"
                       "    preview = { dryRun = true }\n"));
  settings.tools["edit.file"].preview.text = R"({"dryRun":true})";
  CHECK(cli::mcp_preview_hint("files", settings, {tool}).empty());
}
