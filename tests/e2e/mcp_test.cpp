// SPDX-License-Identifier: MIT
// Servers of the Model Context Protocol as tools of the installed program.
#include <csignal>

#include "tests/e2e/program.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/repetitions.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// A configuration with a server that lies; `more` goes into its table.
std::string tables(const std::string& words = "",
                   const std::string& more = "") {
  return "[agents.default]\ntools = [\"read\", \"mcp:liar\"]\n"
         "[tools]\napproval = \"allow\"\n"
         "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR "\"" +
         words + "]\n" + more;
}

/// A model that makes these calls and then says "done".
rt::http_server model_with(std::vector<std::pair<std::string, json>> calls) {
  return rt::http_server{[calls](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls(calls));
  }};
}

json result_of(const rt::finished& end) {
  INFO(end.err);
  const auto events = rt::checked_events(end.out);
  const auto all = rt::of_type(events, "tool_result");
  REQUIRE(all.size() == 1);
  return all[0]["data"];
}

std::vector<std::string> tool_names(const rt::http_request& request) {
  std::vector<std::string> out;
  const auto body = json::parse(request.body);
  for (const auto& x : body.at("tools"))
    out.push_back(x.at("function").at("name"));
  return out;
}

}  // namespace

TEST_CASE("a run calls a tool of a server, with title, progress and result") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__progress", json::object()}});
  folder.configure(server.url("/v1"), tables());
  const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
  INFO(end.err);
  CHECK(end.status == 0);
  const auto events = rt::checked_events(end.out);
  const auto call = rt::of_type(events, "tool_call").at(0)["data"];
  CHECK(call["title"] == "Using liar to progress");
  CHECK(call["effect"] == "mutating");
  const auto reports = rt::of_type(events, "tool_progress");
  INFO(end.out);
  REQUIRE_FALSE(reports.empty());
  const auto progress = reports.back()["data"];
  CHECK(progress["progress"] == 4.0);
  CHECK(progress["total"] == 4.0);
  CHECK(rt::of_type(events, "tool_result").at(0)["data"]["output"] ==
        "all of it");
  CHECK(rt::processes_in(folder).empty());
  const auto names = tool_names(server.requests().at(0));
  CHECK(names.front() == "read");
  CHECK(std::ranges::find(names, "liar__echo") != names.end());
  CHECK(std::ranges::find(names, "liar__read_resource") != names.end());
}

TEST_CASE("many servers that answer at once keep all of their tools") {
  constexpr int count = 20;
  std::string all =
      "[tools]\napproval = \"allow\"\n[agents.default]\ntools = [";
  std::string servers;
  std::vector<std::pair<std::string, json>> calls;
  for (int i = 0; i < count; ++i) {
    const auto name = "l" + std::to_string(i);
    all += (i == 0 ? "\"mcp:" : ", \"mcp:") + name + "\"";
    servers += "[mcp." + name + "]\ncommand = [\"" RIFFLE_MCP_LIAR "\"]\n";
    calls.emplace_back(name + "__echo", json{{"text", name}});
  }
  const int rounds = rt::repetitions(3, 10, 40);
  for (int round = 0; round < rounds; ++round) {
    const rt::work_folder folder;
    auto model = model_with(calls);
    folder.configure(model.url("/v1"), all + "]\n" + servers);
    const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
    INFO(end.err);
    REQUIRE(end.status == 0);
    const auto results =
        rt::of_type(rt::checked_events(end.out), "tool_result");
    REQUIRE(results.size() == count);
    for (const auto& x : results) CHECK(x["data"]["outcome"] == "ok");
  }
}

TEST_CASE("a server that its agents do not name does not start") {
  const rt::work_folder folder;
  auto server = model_with({{"read", {{"path", "riffle.toml"}}}});
  folder.configure(server.url("/v1"),
                   "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR
                   "\", \"state=started\"]\n");
  CHECK(rt::riffle(folder, {"run", "go"}).status == 0);
  CHECK(folder.lines("started").empty());
}

TEST_CASE("a server gives its tools to the agents that it names") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__echo", {{"text", "hi"}}}});
  folder.configure(server.url("/v1"),
                   "[tools]\napproval = \"allow\"\n[mcp.liar]\ncommand = "
                   "[\"" RIFFLE_MCP_LIAR "\"]\nagents = [\"default\"]\n");
  const auto result =
      result_of(rt::riffle(folder, {"run", "--output", "jsonl", "go"}));
  CHECK(result["output"] == "hi");
}

TEST_CASE("without trust each tool asks, whatever it says of itself") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__read_echo", {{"text", "hi"}}}});
  const auto run = [&](const std::string& more) {
    const rt::work_folder place;
    auto text = tables("", more);
    text.replace(text.find("\"allow\""), 7, "\"ask\"");
    place.configure(server.url("/v1"), text);
    return result_of(rt::riffle(place, {"run", "--output", "jsonl", "go"}));
  };
  CHECK(run("")["outcome"] == "denied");
  CHECK(run("trust = \"annotations\"")["outcome"] == "ok");
  CHECK(run("[mcp.liar.tools.read_echo]\neffect = \"read_only\"")["outcome"] ==
        "ok");
  CHECK(run("trust = \"annotations\"\n[mcp.liar.tools.read_echo]\neffect = "
            "\"mutating\"")["outcome"] == "denied");
}

TEST_CASE("a server that dies in mid call: interrupted, or tried again") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__die", json::object()}});
  folder.configure(server.url("/v1"), tables());
  const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
  CHECK(end.status == 0);
  CHECK(result_of(end)["outcome"] == "interrupted");
  CHECK(result_of(end)["attempts"] == 1);

  const rt::work_folder again;
  auto reads = model_with({{"liar__read_die", json::object()}});
  again.configure(reads.url("/v1"), tables("", "trust = \"annotations\"\n"));
  const auto tried =
      result_of(rt::riffle(again, {"run", "--output", "jsonl", "go"}));
  CHECK(tried["attempts"] == 2);
}

TEST_CASE("a time limit of one tool reaches its server") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__mute", json::object()}});
  folder.configure(server.url("/v1"),
                   tables("", "[mcp.liar.tools.mute]\ntimeout = \"300ms\"\n"));
  const auto result =
      result_of(rt::riffle(folder, {"run", "--output", "jsonl", "go"}));
  CHECK(result["outcome"] == "timed_out");
  CHECK(result["duration_ms"] < 5000);
}

TEST_CASE("nothing of a server stays when the runtime is killed") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__mute", json::object()}});
  folder.configure(server.url("/v1"), tables(", \"brood\""));
  rt::program run{
      rt::installed_riffle(), folder, {"run", "--output", "jsonl", "go"}};
  REQUIRE(rt::eventually([&] {
    return run.out().find("\"tool_call\"") != std::string::npos &&
           rt::processes_in(folder).size() >= 5;
  }));
  run.signal(SIGKILL);
  const auto killed = std::chrono::steady_clock::now();
  CHECK(rt::eventually([&] { return rt::processes_in(folder).empty(); }));
  CHECK(std::chrono::steady_clock::now() - killed < 3s);
  run.wait();
}

TEST_CASE("the environment of a server is clean") {
  const rt::work_folder folder;
  auto server = model_with({{"liar__env", json::object()}});
  folder.configure(server.url("/v1"),
                   tables("",
                          "env = [\"SEEN\"]\n"
                          "variables = { GIVEN = \"a value\" }\n"));
  const auto end = rt::riffle(folder, {"run", "go"},
                              {{"SEEN", "yes"}, {"UNSEEN", "canary-4711"}});
  CHECK(end.status == 0);
  const auto seen = rt::tool_messages(server.requests().at(1))
                        .at(0)
                        .at("content")
                        .get<std::string>();
  CHECK(seen.find("SEEN=yes\n") != std::string::npos);
  CHECK(seen.find("GIVEN=a value\n") != std::string::npos);
  CHECK(seen.find("canary-4711") == std::string::npos);
  CHECK_FALSE(rt::holds_provider_key(seen));
}

namespace {

/// A server over HTTP with one tool, of the era before 2026.
rt::http_reply web_server(const rt::http_request& request) {
  if (request.method != "POST") return rt::http_reply::text("", 405);
  const auto x = json::parse(request.body);
  const auto method = x.value("method", "");
  json result = json::object();
  if (!x.contains("id")) return rt::http_reply::text("", 202);
  if (method == "server/discover") return rt::http_reply::text("no", 400);
  if (method == "initialize")
    result = {{"protocolVersion", "2025-11-25"},
              {"capabilities", {{"tools", json::object()}}},
              {"serverInfo", {{"name", "web"}}}};
  if (method == "tools/list")
    result = {
        {"tools", {{{"name", "ask"}, {"inputSchema", {{"type", "object"}}}}}}};
  if (method == "tools/call")
    result = {{"content", {{{"type", "text"}, {"text", "from the web"}}}}};
  return rt::http_reply::json(
      json{{"jsonrpc", "2.0"}, {"id", x["id"]}, {"result", result}}.dump());
}

}  // namespace

TEST_CASE("a server over HTTP gets its token and its headers, others never") {
  const rt::work_folder folder;
  rt::http_server web{web_server};
  auto model = model_with({{"web__ask", json::object()}});
  folder.configure(model.url("/v1"),
                   "[agents.default]\ntools = [\"mcp:web\"]\n"
                   "[tools]\napproval = \"allow\"\n"
                   "[mcp.web]\nurl = \"" +
                       web.url("/mcp") +
                       "\"\ntoken_env = \"WEB_TOKEN\"\n"
                       "headers = { X-Gate = \"g ${GATE_TOKEN}\", X-Plain = "
                       "\"p\" }\n");
  const std::map<std::string, std::string> env{
      {"WEB_TOKEN", "canary-token-4711"}, {"GATE_TOKEN", "canary-gate-4712"}};
  const auto end =
      rt::riffle(folder, {"run", "--output", "jsonl", "-v", "go"}, env);
  const auto result = result_of(end);
  CHECK(result["outcome"] == "ok");
  CHECK(web.request_count() > 2);
  for (const auto& x : web.requests()) {
    CHECK(x.header("authorization") == "Bearer canary-token-4711");
    CHECK(x.header("x-gate") == "g canary-gate-4712");
    CHECK(x.header("x-plain") == "p");
    for (const auto& [name, value] : x.headers)
      CHECK_FALSE(rt::holds_provider_key(value));
  }
  CHECK(model.request_count() == 2);
  for (const auto& x : model.requests()) {
    CHECK(x.body.find("canary-") == std::string::npos);
    CHECK(x.header("x-plain").empty());
    for (const auto& [name, value] : x.headers) {
      CAPTURE(name);
      CHECK(value.find("canary-token") == std::string::npos);
      CHECK(value.find("canary-gate") == std::string::npos);
    }
  }
  CHECK((end.out + end.err).find("canary-") == std::string::npos);
  // Without the variable nothing is sent, and the message names it.
  const auto sent = web.request_count();
  const auto missing =
      rt::riffle(folder, {"mcp", "list"}, {{"GATE_TOKEN", "gate"}});
  INFO(missing.err);
  CHECK(missing.err.find("WEB_TOKEN") != std::string::npos);
  CHECK(web.request_count() == sent);
}
