// SPDX-License-Identifier: MIT
// `/mcp` of `riffle serve`: Riffle as a server of the Model Context Protocol,
// over HTTP, for clients of both eras.
#include <chrono>
#include <csignal>
#include <thread>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string reads_a_file = R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "read"
arguments = { path = "a.txt" }
[[steps]]
text = "It is all done."
)";

const std::string never_ends = R"(
[[steps]]
text = "I wait. "
[[steps.calls]]
tool = "bash"
arguments = { command = "echo x >> began; sleep 600" }
[[steps]]
text = "Done."
)";

const std::string allowed = "[tools.bash]\napproval = \"allow\"\n";
const std::string modern = "2026-07-28";
const std::string takes = "Accept: application/json, text/event-stream";

json ask(const std::string& method, json params = json::object(),
         const json& id = 1) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"method", method},
          {"params", std::move(params)}};
}

json of_modern(const std::string& method, json params = json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = modern;
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
      json::object();
  return ask(method, std::move(params));
}

json a_task(const json& more = json::object()) {
  json out = {{"name", "run_task"}, {"arguments", {{"task", "go"}}}};
  out["arguments"].update(more);
  out["_meta"]["progressToken"] = "p";
  return out;
}

http_answer send_modern(const http_user& who, const json& x,
                        const std::string& accept = takes) {
  std::vector<std::string> fields{
      accept, "MCP-Protocol-Version: " + modern,
      "Mcp-Method: " + x.at("method").get<std::string>()};
  const auto& params = x.at("params");
  for (const auto* key : {"name", "uri"})
    if (params.contains(key))
      fields.push_back("Mcp-Name: " + params.at(key).get<std::string>());
  return who.post("/mcp", x, fields);
}

/// What stands behind "data: ".
std::vector<json> messages_in(const std::string& body) {
  std::vector<json> out;
  for (std::size_t at = body.find("data: "); at != std::string::npos;
       at = body.find("data: ", at + 1))
    out.push_back(
        json::parse(body.substr(at + 6, body.find('\n', at) - at - 6)));
  return out;
}

std::string session_in(const http_answer& x) {
  const std::string name = "Mcp-Session-Id: ";
  const auto at = x.head.find(name);
  if (at == std::string::npos) return {};
  const auto begin = at + name.size();
  return x.head.substr(begin, x.head.find("\r\n", begin) - begin);
}

/// Of the older era.
std::string begun_session(const http_user& who,
                          const std::string& version = "2025-06-18") {
  return session_in(
      who.post("/mcp", ask("initialize", {{"protocolVersion", version}})));
}

std::string state_of_first(const http_user& who) {
  const auto all = who.get("/v1/runs").json()["runs"];
  if (!all.is_array()) return "unknown";
  return all.empty() ? "none" : all[0]["status"].get<std::string>();
}

}  // namespace

TEST_CASE("a client of the newer era gives a task, with progress") {
  const work_folder folder;
  write_server(folder, reads_a_file);
  folder.write("a.txt", "content");
  served server{folder};
  const auto who = server.user();
  const auto about = send_modern(who, of_modern("server/discover")).json();
  CHECK(about["result"]["supportedVersions"] == json::array({modern}));
  const auto tools = send_modern(who, of_modern("tools/list")).json();
  CHECK(tools["result"]["tools"][0]["name"] == "run_task");
  CHECK(tools["result"]["resultType"] == "complete");
  const auto said = send_modern(who, of_modern("tools/call", a_task()));
  CHECK(said.status == 200);
  const auto all = messages_in(said.body);
  REQUIRE(all.size() >= 3);
  double before = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    CHECK(all[i]["method"] == "notifications/progress");
    CHECK(all[i]["params"]["progressToken"] == "p");
    CHECK(all[i]["params"]["progress"] > before);
    before = all[i]["params"]["progress"];
  }
  CHECK(said.body.find("Reading a.txt") != std::string::npos);
  const auto& result = all.back()["result"];
  CHECK(all.back()["id"] == 1);
  CHECK(result["isError"] == false);
  CHECK(result["structuredContent"]["status"] == "completed");
  CHECK(result["content"][0]["text"].get<std::string>().find("all done") !=
        std::string::npos);
  CHECK(result["structuredContent"]["tool_calls"] == 1);
  // Without a stream the answer alone; the session goes on.
  const auto session = result["structuredContent"]["session_id"];
  const auto plain = send_modern(
      who, of_modern("tools/call", a_task({{"session_id", session}})),
      "Accept: application/json");
  CHECK(plain.json()["result"]["structuredContent"]["session_id"] == session);
  const auto uri = "riffle://sessions/" + session.get<std::string>();
  const auto list = send_modern(who, of_modern("resources/list")).json();
  CHECK(list["result"]["resources"][0]["uri"] == uri);
  const auto read =
      send_modern(who, of_modern("resources/read", {{"uri", uri}}));
  CHECK(read.body.find("all done") != std::string::npos);
}

TEST_CASE("what stands in the header is what stands in the body, or refused") {
  const work_folder folder;
  write_server(folder, reads_a_file);
  served server{folder};
  const auto who = server.user();
  const auto code_of = [&](const json& x, std::vector<std::string> fields,
                           long status) {
    const auto said = who.post("/mcp", x, std::move(fields));
    INFO(said.body);
    CHECK(said.status == status);
    return said.json()["error"]["code"];
  };
  const auto call = of_modern("tools/call", a_task());
  const std::string version = "MCP-Protocol-Version: " + modern;
  CHECK(code_of(call, {}, 400) == -32020);
  CHECK(code_of(call, {version}, 400) == -32020);
  CHECK(code_of(call, {version, "Mcp-Method: tools/list"}, 400) == -32020);
  CHECK(code_of(call, {version, "Mcp-Method: tools/call"}, 400) == -32020);
  CHECK(code_of(call, {version, "Mcp-Method: tools/call", "Mcp-Name: other"},
                400) == -32020);
  CHECK(code_of(call,
                {"MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/call",
                 "Mcp-Name: run_task"},
                400) == -32020);
  // Of two of one name somebody between may have taken the other.
  CHECK(code_of(call,
                {version, "Mcp-Method: tools/call", "Mcp-Name: run_task",
                 "Mcp-Name: other"},
                400) == -32020);
  CHECK(code_of(of_modern("no/such"), {version, "Mcp-Method: no/such"}, 404) ==
        -32601);
  auto future = of_modern("tools/list");
  future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
      "2030-01-01";
  CHECK(code_of(future,
                {"MCP-Protocol-Version: 2030-01-01", "Mcp-Method: tools/list"},
                400) == -32022);
  CHECK(code_of(json::array(), {}, 400) == -32600);
  const auto twice = who.send(
      "POST", "/mcp", R"({"id":1,"method":"ping","method":"tools/call"})",
      {"Content-Type: application/json"});
  CHECK(twice.status == 400);
  CHECK(twice.body.find("stands twice in one object") != std::string::npos);
  CHECK(code_of(ask("tools/list"), {version, "Mcp-Method: tools/list"}, 400) ==
        -32602);
  CHECK(state_of_first(who) == "none");
  const auto coded = who.post(
      "/mcp", call,
      {version, "Mcp-Method: tools/call", "Mcp-Name: =?base64?cnVuX3Rhc2s=?="});
  CHECK(coded.status == 200);
}

TEST_CASE("a client of the older era: session, task, cancel") {
  const work_folder folder;
  write_server(folder, never_ends, allowed);
  served server{folder};
  const auto who = server.user();
  const auto hello =
      who.post("/mcp", ask("initialize", {{"protocolVersion", "2025-06-18"},
                                          {"capabilities", json::object()},
                                          {"clientInfo", {{"name", "x"}}}}));
  CHECK(hello.json()["result"]["protocolVersion"] == "2025-06-18");
  const auto session = session_in(hello);
  REQUIRE(session.size() >= 32);
  CHECK(who.post("/mcp", ask("tools/list")).status == 400);
  const std::vector<std::string> fields{
      takes, "MCP-Protocol-Version: 2025-06-18", "Mcp-Session-Id: " + session};
  CHECK(who.post("/mcp",
                 {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
                 fields)
            .status == 202);
  CHECK(who.post("/mcp", ask("no/such"), fields).json()["error"]["code"] ==
        -32601);
  CHECK(who.get("/mcp").status == 405);
  raw_client client{server.port()};
  const auto body = ask("tools/call", a_task(), 7).dump();
  client.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
      who.token() + "\r\n" + takes + "\r\nMcp-Session-Id: " + session +
      "\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
  const json cancel = {{"jsonrpc", "2.0"},
                       {"method", "notifications/cancelled"},
                       {"params", {{"requestId", 7}}}};
  // Of another session it is another call.
  CHECK(who.post("/mcp", cancel, {"Mcp-Session-Id: " + begun_session(who)})
            .status == 202);
  // One that was never begun is none, nor is one of another caller.
  CHECK(who.post("/mcp", cancel, {"Mcp-Session-Id: other"}).status == 404);
  CHECK(state_of_first(who) == "active");
  CHECK(who.post("/mcp", cancel, fields).status == 202);
  const auto told = client.read_until("\"status\":\"cancelled\"");
  CHECK(told.find("\"status\":\"cancelled\"") != std::string::npos);
  // An id counts once.
  const auto again = who.post("/mcp", ask("tools/call", a_task(), 7), fields);
  CHECK(again.body.find("was used before") != std::string::npos);
}

TEST_CASE("who goes away: one of the newer era cancels, one of the older not") {
  for (const bool newer : {true, false}) {
    CAPTURE(newer);
    const work_folder folder;
    write_server(folder, never_ends, allowed);
    served server{folder};
    const auto who = server.user();
    {
      raw_client client{server.port()};
      const auto body = (newer ? of_modern("tools/call", a_task())
                               : ask("tools/call", a_task()))
                            .dump();
      const auto more = newer
                            ? "MCP-Protocol-Version: " + modern +
                                  "\r\nMcp-Method: tools/call\r\n"
                                  "Mcp-Name: run_task\r\n"
                            : "Mcp-Session-Id: " + begun_session(who) + "\r\n";
      client.send(
          "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
          who.token() + "\r\n" + takes + "\r\n" + more +
          "Content-Type: application/json\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n\r\n" + body);
      client.read_until("notifications/progress");
      REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
    }
    if (newer) {
      CHECK(eventually([&] {
        std::this_thread::sleep_for(50ms);  // who asks more often is refused
        return state_of_first(who) == "cancelled";
      }));
    } else {
      for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(100ms);
        CHECK(state_of_first(who) == "active");
      }
    }
  }
}

TEST_CASE("/mcp has the rules of every route: tokens, roles, origins, owners") {
  const work_folder folder;
  const auto token = [](const std::string& name, const std::string& more) {
    return "[server.tokens." + name + "]\nhash = \"" + ::riffle::sha256(name) +
           "\"\n" + more + "\n";
  };
  write_server(folder, reads_a_file,
               token("looks", "roles = [\"read\"]") +
                   token("runs", "agents = [\"other\"]") +
                   token("blind", "roles = [\"run\"]") +
                   "[agents.other]\nmodel = \"default\"\n");
  folder.write("a.txt", "content");
  served server{folder};
  const auto call = of_modern("tools/call", a_task());
  const auto none = send_modern(server.user(""), call);
  CHECK(none.status == 401);
  CHECK(none.head.find("WWW-Authenticate: Bearer") != std::string::npos);
  CHECK(send_modern(server.user("looks"), call).status == 403);
  const auto who = server.user();
  CHECK(who.post("/mcp", call, {"Origin: https://evil.example"}).status == 403);
  // An agent that the token may not use is none, as a result.
  const auto runs = server.user("runs");
  const auto refused = send_modern(runs, call, "Accept: application/json");
  CHECK(refused.json()["result"]["isError"] == true);
  CHECK(refused.body.find("may not use") != std::string::npos);
  // A session of somebody else is not there, nor is it listed.
  const auto own = send_modern(who, call, "Accept: application/json").json();
  const auto session =
      own["result"]["structuredContent"]["session_id"].get<std::string>();
  const auto blind = server.user("blind");
  CHECK(send_modern(runs, of_modern("resources/list"))
            .json()["result"]["resources"]
            .empty());
  CHECK(send_modern(runs, of_modern("resources/read",
                                    {{"uri", "riffle://sessions/" + session}}))
            .status == 400);
  CHECK(send_modern(blind, of_modern("resources/list")).status == 404);
  const auto taken = send_modern(
      blind, of_modern("tools/call", a_task({{"session_id", session}})),
      "Accept: application/json");
  CHECK(taken.body.find("there is no session") != std::string::npos);
  CHECK(who.get("/v1/runs").json()["runs"].size() == 1);
}

TEST_CASE("a task of the newer era ends with its server, and is told so") {
  const work_folder folder;
  write_server(folder, never_ends, allowed);
  const bool killed = GENERATE(false, true);
  CAPTURE(killed);
  served server{folder, {"--set", "server.stop_timeout=100ms"}};
  const auto who = server.user();
  raw_client client{server.port()};
  const auto body = of_modern("tools/call", a_task()).dump();
  client.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
      who.token() + "\r\n" + takes + "\r\nMCP-Protocol-Version: " + modern +
      "\r\nMcp-Method: tools/call\r\nMcp-Name: run_task\r\n"
      "Content-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
  if (killed) {
    server.kill_and_restart();
    // Its client asks again, if at all: it does not go on.
    CHECK(eventually([&] {
      std::this_thread::sleep_for(50ms);  // who asks more often is refused
      return state_of_first(who) == "cancelled";
    }));
  } else {
    server.process().signal(SIGTERM);
    const auto told = client.read_until("\"status\":\"cancelled\"");
    CHECK(told.find("\"status\":\"cancelled\"") != std::string::npos);
    CHECK(server.process().wait().status == 0);
  }
  CHECK(folder.lines("began").size() == 1);
}

TEST_CASE("a client of a version with batches is answered in one, over HTTP") {
  const work_folder folder;
  write_server(folder, reads_a_file);
  folder.write("a.txt", "content");
  served server{folder};
  const auto who = server.user();
  const auto session = "Mcp-Session-Id: " + begun_session(who, "2025-03-26");
  const json told = {{"method", "notifications/initialized"}};
  CHECK(who.post("/mcp", json::array({told}), {session}).status == 202);
  CHECK(who.post("/mcp", json::array({told}), {takes}).status == 400);
  const auto asked = [&](int call) {
    return json::array({ask("tools/list", json::object(), 1), told,
                        ask("initialize", json::object(), 2),
                        ask("tools/call", a_task(), call)});
  };
  const auto check = [&](const json& all, const json& done) {
    CHECK(all[0]["result"]["tools"][0]["name"] == "run_task");
    CHECK(all[1]["error"]["code"] == -32600);
    CHECK(done["result"]["structuredContent"]["status"] == "completed");
  };
  const auto stream = who.post("/mcp", asked(3), {takes, session});
  const auto all = messages_in(stream.body);
  REQUIRE(all.size() >= 4);
  CHECK(all[2]["method"] == "notifications/progress");
  check(all, all.back());
  const auto list =
      who.post("/mcp", asked(4), {"Accept: application/json", session}).json();
  REQUIRE(list.size() == 3);
  check(list, list[2]);
}
