// SPDX-License-Identifier: MIT
// `riffle serve` against its own document: what every route answers when it is
// used as it should be. `served` compares each answer.
#include <algorithm>
#include <csignal>

#include "tests/e2e/http_answers.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = R"(
chunk = 4
delay = "5ms"
[[steps]]
text = "I look, and then I make a note. "
[[steps.calls]]
tool = "glob"
arguments = { pattern = "*.toml" }
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "hello {{task}}" }
[[steps]]
text = "Done."
)";

const std::vector<std::string> as_json{"Accept: application/json"};

std::string begin(const http_user& who, const std::string& path,
                  const json& body, const std::string& id) {
  const auto x = who.post(path, body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()[id];
}

json first_question(const http_user& who) {
  json out;
  REQUIRE(eventually([&] {
    const auto all = who.get("/v1/proposals").json()["proposals"];
    if (!all.empty()) out = all[0];
    return !all.empty();
  }));
  return out;
}

void ask_for_runs(const http_user& who) {
  const auto run =
      begin(who, "/v1/runs", {{"task", "a"}, {"session_id", "s"}}, "run_id");
  const std::string question = first_question(who)["proposal_id"];
  who.get("/v1/runs/" + run);
  who.post("/v1/proposals/" + question,
           {{"decision", "approve"}, {"always", "call"}});
  CHECK(who.get("/v1/grants?session=s").json()["grants"].size() == 1);
  CHECK(who.send("DELETE", "/v1/grants/" + question, {}, {}).status == 200);
  await_end(who, run);
  who.get("/v1/proposals?status=all");
  who.get("/v1/runs?state=completed&limit=5");
  const auto path = "/v1/runs/" + run;
  std::string call;
  for (const auto& x : who.get(path + "/events", as_json).json())
    if (x["event_type"] == "tool_call") call = x["data"]["id"];
  for (const auto* type : {"text/event-stream", "application/x-ndjson"})
    who.get(path + "/events", {"Accept: " + std::string{type}});
  who.get(path + "/calls/" + call + "/output");
  who.get(path + "/calls/" + call + "/output", {"Range: bytes=0-1"});
  who.post(path + "/calls/" + call + "/cancel", json::object());
  who.post(path + "/cancel", json::object());
  who.post(path + "/resume", json::object());
  const auto told = begin(who, "/v1/runs", {{"task", "c"}}, "run_id");
  first_question(who);  // it works
  who.post("/v1/runs/" + told + "/messages", {{"text", "rather d"}});
  who.post("/v1/runs/" + told + "/cancel", json::object());
  await_end(who, told);
}

void ask_for_sessions(const http_user& who) {
  const std::string path = "/v1/sessions/s";
  const auto run = begin(who, path + "/runs",
                         {{"task", "b"}, {"approve", "none"}}, "run_id");
  await_end(who, run);
  who.get("/v1/sessions");
  who.get(path);
  who.get(path + "/events", as_json);
  who.send("PUT", path + "/state/x", "[1]", {"Content-Type: application/json"});
  who.get(path + "/state/x");
  who.send("DELETE", path, {}, {});
}

void ask_for_many(const http_user& who) {
  const json steps{{{"id", "a"}, {"instruction", "note it"}}};
  const auto plan =
      begin(who, "/v1/plans",
            {{"plan", {{"steps", steps}}}, {"approve", "all"}}, "plan_id");
  who.get("/v1/plans/" + plan);
  who.get("/v1/plans");
  who.get("/v1/plans/" + plan + "/events");
  who.get("/v1/plans/" + plan);
  who.get("/v1/plans/" + plan + "/events", as_json);
  who.post("/v1/plans/" + plan + "/cancel", json::object());
  const auto volley =
      begin(who, "/v1/volleys", {{"tasks", {"a", "b"}}}, "volley_id");
  first_question(who);
  who.get("/v1/volleys/" + volley);
  who.get("/v1/volleys");
  who.post("/v1/volleys/" + volley + "/cancel", json::object());
  who.get("/v1/volleys/" + volley + "/events");
  who.get("/v1/volleys/" + volley);
  who.get("/v1/sessions");
  who.send("HEAD", "/v1/events", {}, {});
}

/// Goes on with what the command line left.
void ask_for_resume(const work_folder& folder, const http_user& who) {
  program cli{installed_riffle(),
              folder,
              {"run", "--config", "riffle.toml", "--output", "jsonl", "x"}};
  REQUIRE(eventually(
      [&] { return cli.out().find("llm_token") != std::string::npos; }));
  const std::string run =
      json::parse(cli.out().substr(0, cli.out().find('\n')))["run_id"];
  cli.signal(SIGKILL);
  cli.wait();
  who.get("/v1/runs/" + run);
  CHECK(who.post("/v1/runs/" + run + "/resume", json::object()).status == 202);
  CHECK(who.post("/v1/runs/" + run + "/cancel", json::object()).status == 202);
  await_end(who, run);
}

void ask_for_the_rest(const served& server) {
  const auto who = server.user();
  for (const auto* path : {"/v1/tools", "/v1/agents", "/metrics",
                           "/openapi.json", "/healthz", "/readyz"})
    CHECK(who.get(path).status == 200);
  CHECK(who.post("/mcp", {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}})
            .status == 200);
  const auto stranger = server.user("");
  CHECK(stranger.post("/v1/login", {{"token", who.token()}}).status == 204);
  CHECK(stranger.post("/v1/logout", json::object()).status == 204);
}

}  // namespace

TEST_CASE("every route answers as its document says") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  take_documented();
  ask_for_runs(who);
  ask_for_sessions(who);
  ask_for_many(who);
  ask_for_resume(folder, who);
  ask_for_the_rest(server);
  const auto seen = take_documented();
  for (const auto& route : documented_routes()) {
    CAPTURE(route);
    CHECK(std::ranges::any_of(
        seen, [&](const auto& x) { return x.starts_with(route + " 2"); }));
  }
}

TEST_CASE("an answer that the document does not know is noticed") {
  take_undocumented();
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
  const auto faults = [&](long status, const std::string& body,
                          const std::string& path = "/v1/runs/x/cancel") {
    compare_with_document({"POST", path, status, head, body});
    return take_undocumented().size();
  };
  CHECK(faults(200, R"({"run_id": "x", "cancel": "finished"})") == 0);
  CHECK(faults(200, R"({"run_id": "x"})") == 1);
  CHECK(faults(200, R"({"run_id": "x", "cancel": "perhaps"})") == 1);
  CHECK(faults(200, R"({"run_id": "x", "cancel": "asked", "why": 1})") == 1);
  CHECK(faults(200, "{") == 1);
  CHECK(faults(201, R"({"run_id": "x", "cancel": "asked"})") == 1);
  CHECK(faults(404, R"({"title": "x"})") == 1);  // another type
  CHECK(faults(204, "{}", "/v1/login") == 1);
  CHECK(faults(200, "{}", "/v1/nowhere") == 0);
}
