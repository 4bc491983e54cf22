// SPDX-License-Identifier: MIT
// Single tools that Riffle offers to clients of the Model Context Protocol:
// `riffle mcp serve`, and `/mcp` of `riffle serve`. Approvals hold.
#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <thread>

#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";
const std::string offers =
    "[mcp_server]\ntools = [\"read\", \"write\", \"bash\"]\n";
const std::string modern = "2026-07-28";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `riffle mcp …` of a client whose server is Riffle, asked with these words.
struct client {
  explicit client(const std::string& approve) {
    write_server(folder, script, offers);
    folder.write("a.txt", "content of a");
    folder.write("client.toml",
                 "[runtime]\ndata_dir = \"client\"\n[mcp.self]\ntrust = "
                 "\"annotations\"\ncommand = [\"" +
                     installed_riffle().string() +
                     "\", \"mcp\", \"serve\", \"--approve\", \"" + approve +
                     "\", \"--config\", \"riffle.toml\"]\n");
  }

  finished mcp(std::vector<std::string> words) const {
    words.insert(words.begin(), "mcp");
    words.insert(words.end(), {"--config", "client.toml"});
    return ::riffle::testing::riffle(folder, std::move(words));
  }

  finished call(const std::string& tool, const json& arguments) const {
    return mcp({"call", "self", tool, arguments.dump()});
  }

  work_folder folder;
};

json of_modern(const std::string& method, json params = json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = modern;
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
      json::object();
  params["_meta"]["progressToken"] = "p";
  return {{"jsonrpc", "2.0"},
          {"id", 1},
          {"method", method},
          {"params", std::move(params)}};
}

http_answer send_modern(const http_user& who, const json& x,
                        const std::string& accept = "application/json") {
  std::vector<std::string> fields{
      "Accept: " + accept, "MCP-Protocol-Version: " + modern,
      "Mcp-Method: " + x.at("method").get<std::string>()};
  if (x.at("params").contains("name"))
    fields.push_back("Mcp-Name: " +
                     x.at("params").at("name").get<std::string>());
  return who.post("/mcp", x, fields);
}

json a_call(const std::string& tool, const json& arguments) {
  return of_modern("tools/call", {{"name", tool}, {"arguments", arguments}});
}

std::string text_of(const json& answer) {
  return answer["result"]["content"][0]["text"].get<std::string>();
}

/// The id of the one proposal that waits, once it does.
std::string waiting_proposal(const http_user& who) {
  std::string out;
  CHECK(eventually([&] {
    std::this_thread::sleep_for(50ms);  // who asks more often is refused
    const auto all = who.get("/v1/proposals?status=pending").json();
    if (!all["proposals"].is_array() || all["proposals"].empty()) return false;
    out = all["proposals"][0]["proposal_id"].get<std::string>();
    return true;
  }));
  return out;
}

}  // namespace

TEST_CASE("mcp serve offers the tools that the configuration names") {
  const client x{"none"};
  const auto list = x.mcp({"tools", "self", "--output", "json"});
  INFO(list.err);
  json effects;
  for (const auto& one : json::parse(list.out))
    effects[one.at("name").get<std::string>()] = one.at("effect");
  CHECK(effects == json{{"self__run_task", "mutating"},
                        {"self__read", "read_only"},
                        {"self__write", "mutating"},
                        {"self__bash", "mutating"},
                        {"self__read_resource", "read_only"}});
  const auto read = x.call("read", {{"path", "a.txt"}});
  CHECK(read.status == 0);
  CHECK(has(read.out, "content of a"));
  const auto events = x.mcp(
      {"call", "self", "read", R"({"path":"a.txt"})", "--output", "jsonl"});
  CHECK(has(events.out + events.err, "Reading a.txt"));
  // Nobody can be asked, so what changes something is denied.
  const auto write = x.call("write", {{"path", "b.txt"}, {"content", "b"}});
  INFO(write.out + write.err);
  CHECK(write.status == 1);
  CHECK(has(write.out + write.err, "approves none"));
  CHECK_FALSE(std::filesystem::exists(x.folder.path() / "b.txt"));
  const auto gone = x.call("read", {{"path", "gone.txt"}});
  CHECK(gone.status == 1);
  CHECK(has(gone.out + gone.err, "gone.txt"));
  CHECK(x.call("grep", {{"pattern", "x"}}).status != 0);
  CHECK(processes_in(x.folder).empty());
}

TEST_CASE("a tool that mcp serve runs has its whole output, and its texts") {
  const client x{"all"};
  const auto text = "{{steps.call.output}} and {{steps.x";
  const auto write = x.call("write", {{"path", "b.txt"}, {"content", text}});
  INFO(write.out + write.err);
  CHECK(write.status == 0);
  CHECK(x.folder.read("b.txt") == text);
  const auto long_one = x.call("bash", {{"command", "seq 1 5000"}});
  CHECK(has(long_one.out, "\n4321\n"));
  const auto failed =
      x.call("bash", {{"command", "seq 1 300; echo the-end; exit 3"}});
  CHECK(failed.status == 1);
  CHECK(has(failed.out + failed.err, "the-end"));
  CHECK(has(failed.out + failed.err, "\n123\n"));
  // It is a call like any: on record, in a log that holds the promises.
  const auto sessions = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"sessions", "list", "--output", "json"});
    return ::riffle::testing::riffle(x.folder, std::move(more)).out;
  };
  CHECK(has(sessions({"plan_call_"}), "Plan of 1 step: write"));
  CHECK_FALSE(has(sessions({}), "plan_"));  // they would hide all others
  CHECK(processes_in(x.folder).empty());
}

TEST_CASE("a folder's file offers no tool before it is trusted") {
  const work_folder folder;
  folder.write("riffle.toml", offers);
  const auto out =
      ::riffle::testing::riffle(folder, {"mcp", "serve"},
                                {{"RIFFLE_CONFIG", ""},
                                 {"XDG_CONFIG_HOME", ""},
                                 {"HOME", folder.path().string()}});
  CHECK(out.status == 2);
  CHECK(has(out.err, "is not trusted; it sets mcp_server.tools"));
}

TEST_CASE("/mcp offers the tools that the configuration names") {
  const work_folder folder;
  write_server(folder, script, offers);
  folder.write("a.txt", "content of a");
  served server{folder};
  const auto who = server.user();
  const auto tools =
      send_modern(who, of_modern("tools/list")).json()["result"]["tools"];
  REQUIRE(tools.size() == 4);
  CHECK(tools[0]["name"] == "run_task");
  CHECK(tools[1]["name"] == "read");
  CHECK(tools[1]["annotations"]["readOnlyHint"] == true);
  CHECK(tools[2]["annotations"]["readOnlyHint"] == false);
  const auto read = send_modern(who, a_call("read", {{"path", "a.txt"}}));
  INFO(read.body);
  CHECK(read.json()["result"]["isError"] == false);
  CHECK(has(text_of(read.json()), "content of a"));
  const auto stream = send_modern(who, a_call("read", {{"path", "a.txt"}}),
                                  "application/json, text/event-stream");
  CHECK(has(stream.body, "notifications/progress"));
  CHECK(has(stream.body, "Reading a.txt"));
  CHECK(has(stream.body, "content of a"));
  const auto gone = send_modern(who, a_call("read", {{"path", "gone.txt"}}));
  CHECK(gone.json()["result"]["isError"] == true);
  CHECK(has(text_of(gone.json()), "gone.txt"));
  const auto wrong = send_modern(who, a_call("read", {{"pfad", "a.txt"}}));
  CHECK(wrong.json()["result"]["isError"] == true);
  CHECK_FALSE(has(text_of(wrong.json()), "step 1"));
  CHECK(send_modern(who, a_call("grep", json::object())).status == 400);
  // Records of calls push no run off a list, and are there for who names them.
  CHECK(who.get("/v1/runs").json()["runs"].empty());
  CHECK(who.get("/v1/plans").json()["plans"].empty());
  CHECK(who.get("/v1/sessions").json()["sessions"].empty());
  const auto kept = riffle::testing::riffle(
      folder, {"sessions", "list", "plan_call_", "--output", "json"});
  const auto id = json::parse(kept.out).at(0).at("session_id");
  CHECK(who.get("/v1/runs?session=" + id.get<std::string>())
            .json()["runs"]
            .size() == 1);
}

TEST_CASE("a picture of /mcp is a picture, and a long output has its bound") {
  const work_folder folder;
  write_server(folder, script,
               offers +
                   "[tools]\noutput_limit = 1000\n"
                   "[tools.bash]\napproval = \"allow\"\n");
  const auto picture = ::riffle::from_base64(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg"
      "GAWjR9awAAAABJRU5ErkJggg==");
  folder.write("pic.png", picture);
  served server{folder};
  const auto who = server.user();
  const auto content_of = [&](const json& call) {
    const auto answer = send_modern(who, call);
    INFO(answer.body);
    CHECK(answer.json()["result"]["isError"] == false);
    return answer.json()["result"]["content"];
  };
  const auto shown = content_of(a_call("read", {{"path", "pic.png"}}));
  REQUIRE(shown.size() == 2);
  CHECK(shown[1]["type"] == "image");
  CHECK(shown[1]["mimeType"] == "image/png");
  CHECK(shown[1]["data"] == ::riffle::to_base64(picture));
  const auto told = content_of(a_call("bash", {{"command", "seq 1 2000000"}}));
  REQUIRE(told.size() == 2);
  CHECK(told[0]["text"].get<std::string>().size() < 2000);
  CHECK(told[1]["type"] == "resource_link");
  CHECK(told[1]["size"] == 14888896);
  const auto uri = told[1]["uri"].get<std::string>();
  const auto rest =
      who.post("/mcp", of_modern("resources/read", {{"uri", uri}}),
               {"Accept: application/json", "MCP-Protocol-Version: " + modern,
                "Mcp-Method: resources/read", "Mcp-Name: " + uri})
          .json()["result"]["contents"][0]["text"]
          .get<std::string>();
  CHECK(rest.starts_with("1\n2\n3\n"));
  CHECK(rest.ends_with("[the output was cut here; 14888896 bytes in all]"));
}

TEST_CASE("SIGTERM ends the calls of mcp serve, and leaves nothing open") {
  const work_folder folder;
  write_server(folder, script, offers + "[tools.bash]\napproval = \"allow\"\n");
  REQUIRE(::mkfifo((folder.path() / "in").c_str(), 0600) == 0);
  program serves{"/bin/sh",
                 folder,
                 {"-c", "exec '" + installed_riffle().string() +
                            "' mcp serve --config riffle.toml < in"}};
  std::ofstream in{folder.path() / "in"};
  const auto ask = [&](int id, const char* method, const json& params) {
    in << json{{"jsonrpc", "2.0"},
               {"id", id},
               {"method", method},
               {"params", params}}
              .dump()
       << std::endl;
  };
  ask(1, "initialize", {{"protocolVersion", "2025-06-18"}});
  ask(2, "tools/call",
      {{"name", "run_task"},
       {"arguments", {{"task", "x"}, {"approve", "all"}}}});
  ask(3, "tools/call",
      {{"name", "run_task"},
       {"arguments", {{"task", "x"}, {"timeout", "soon"}}}});
  ask(4, "tools/call",
      {{"name", "bash"},
       {"arguments", {{"command", "echo x >> began; sleep 600"}}}});
  REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
  serves.signal(SIGTERM);
  const auto end = serves.wait();
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.out, "started with --approve all"));
  CHECK(has(end.out, "timeout must be a duration"));
  CHECK(has(end.out, "Error (cancelled)"));
  CHECK(processes_in(folder).empty());
  const auto list = ::riffle::testing::riffle(
      folder, {"sessions", "list", "plan_call_", "--output", "json", "--config",
               "riffle.toml"});
  const auto all = json::parse(list.out);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["last_run"]["status"] == "cancelled");
}

TEST_CASE("a tool of /mcp that changes something waits for a person") {
  const work_folder folder;
  write_server(folder, script, offers);
  served server{folder};
  const auto who = server.user();
  const auto decided = [&](const char* word, const std::string& file) {
    json answer;
    std::jthread caller{[&] {
      answer =
          send_modern(who, a_call("write", {{"path", file}, {"content", "b"}}))
              .json();
    }};
    const auto id = waiting_proposal(who);
    CHECK(folder.read(file).empty());
    CHECK(who.post("/v1/proposals/" + id, {{"decision", word}}).status == 200);
    caller.join();
    return answer;
  };
  const auto yes = decided("approve", "b.txt");
  INFO(yes.dump());
  CHECK(yes["result"]["isError"] == false);
  CHECK(folder.read("b.txt") == "b");
  const auto no = decided("deny", "c.txt");
  CHECK(no["result"]["isError"] == true);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "c.txt"));
  // Of a command that failed all of the output comes, too.
  json failed;
  std::jthread caller{[&] {
    failed = send_modern(who, a_call("bash", {{"command",
                                               "seq 1 300; echo the-end; "
                                               "exit 3"}}))
                 .json();
  }};
  CHECK(who.post("/v1/proposals/" + waiting_proposal(who),
                 {{"decision", "approve"}})
            .status == 200);
  caller.join();
  CHECK(failed["result"]["isError"] == true);
  CHECK(has(text_of(failed), "\n123\n"));
  CHECK(has(text_of(failed), "the-end"));
}

TEST_CASE("a client of the older era cancels a tool of /mcp") {
  const work_folder folder;
  write_server(folder, script, offers + "[tools.bash]\napproval = \"allow\"\n");
  served server{folder};
  const auto who = server.user();
  const auto hello =
      who.post("/mcp", {{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "initialize"},
                        {"params", {{"protocolVersion", "2025-06-18"}}}});
  const auto at = hello.head.find("Mcp-Session-Id: ");
  REQUIRE(at != std::string::npos);
  const std::vector<std::string> fields{
      "Accept: application/json",
      hello.head.substr(at, hello.head.find("\r\n", at) - at)};
  json answer;
  std::jthread caller{[&] {
    answer =
        who.post(
               "/mcp",
               {{"jsonrpc", "2.0"},
                {"id", 7},
                {"method", "tools/call"},
                {"params",
                 {{"name", "bash"},
                  {"arguments", {{"command", "echo x >> began; sleep 600"}}}}}},
               fields)
            .json();
  }};
  REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
  CHECK(who.post("/mcp",
                 {{"jsonrpc", "2.0"},
                  {"method", "notifications/cancelled"},
                  {"params", {{"requestId", 7}}}},
                 fields)
            .status == 202);
  caller.join();
  CHECK(answer["result"]["isError"] == true);
}

TEST_CASE("a token of some agents sees no tool of /mcp by itself") {
  const work_folder folder;
  write_server(folder, script,
               offers + "[server.tokens.some]\nhash = \"" +
                   ::riffle::sha256("some") + "\"\nagents = [\"default\"]\n");
  folder.write("a.txt", "content of a");
  served server{folder};
  const auto some = server.user("some");
  const auto tools =
      send_modern(some, of_modern("tools/list")).json()["result"]["tools"];
  CHECK(tools.size() == 1);
  const auto call = send_modern(some, a_call("read", {{"path", "a.txt"}}));
  CHECK(call.status == 400);
  CHECK_FALSE(has(call.body, "content of a"));
}
