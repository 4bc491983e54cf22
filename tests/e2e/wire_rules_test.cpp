// SPDX-License-Identifier: MIT
// Rules of single providers that no loop of reads meets: what they refuse, in
// their own words and shapes.
#include <map>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::map<std::string, std::string> env_of(const work_folder& folder) {
  auto env = wire_environment();
  env["RIFFLE_CONFIG"] = (folder.path() / "riffle.toml").string();
  return env;
}

finished run(const work_folder& folder, const std::string& model,
             const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run", "-m",       model,   "--session",
                                 "s1",  "--output", "jsonl", "go"};
  words.insert(words.end(), more.begin(), more.end());
  return riffle::testing::riffle(folder, std::move(words), env_of(folder));
}

const wire_server& wire_of(const std::string& model) {
  for (const auto& x : wires())
    if (x.model == model) return x;
  throw std::runtime_error("nobody has the model " + model);
}

/// More of the table of the one model.
void add_to_table(const work_folder& folder, const std::string& more) {
  folder.write("riffle.toml", folder.read("riffle.toml") + more);
}

/// "Unexpected role 'user' after role 'tool'", as Mistral says it.
bool has_wrong_order(const json& body) {
  std::string before;
  for (const auto& m : body.at("messages")) {
    const auto role = m.at("role").get<std::string>();
    if (role == "user" && before == "tool") return true;
    before = role;
  }
  return false;
}

http_reply wrong_order() {
  return http_reply::json(
      R"({"object":"error","message":"Unexpected role 'user' after role )"
      R"('tool'","type":"invalid_request_message_order","param":null,)"
      R"("code":"3230"})",
      400);
}

}  // namespace

TEST_CASE("xai: what a model does not take is left out, whatever its name") {
  const std::string more =
      GENERATE("extra = { presence_penalty = 0.5 }\n",
               "extra = { frequency_penalty = 0.5 }\n", "stop = [\"END\"]\n",
               "reasoning_effort = \"high\"\n");
  INFO(more);
  const work_folder folder;
  http_server server{[&](const http_request& request) {
    const auto why = fault_of_grok(json::parse(request.body));
    if (why.empty()) return respond_sse(answer("ok"));
    return http_reply::json(
        json{{"code", "Client specified an invalid argument"}, {"error", why}}
            .dump(),
        400);
  }};
  configure_wires(folder, server.url("/v1"), {"xai/grok-x"});
  add_to_table(folder, more);
  const auto x = run(folder, "xai/grok-x");
  INFO(x.err << x.out);
  CHECK(x.status == 0);
  REQUIRE(server.request_count() == 2);
  CHECK(fault_of_grok(json::parse(server.requests().at(1).body)).empty());
  const auto said = of_type(checked_events(x.out), "status");
  REQUIRE_FALSE(said.empty());
  CHECK_THAT(said.front().dump(), Contains("does not take"));
}

TEST_CASE("vertex: a token that lives for two requests, over a kill -9") {
  const auto& wire = wire_of("vertex/google/gemini-v");
  const work_folder folder;
  std::map<std::string, int> uses;  // of the server's thread
  int expired = 0;
  bool killed = false;
  http_server server{[&](const http_request& request) {
    const std::string token{request.header("authorization")};
    if (++uses[token] > 2) {
      ++expired;
      return http_reply::json(
          R"([{"error":{"code":401,"message":"Request had invalid )"
          R"(authentication credentials. Expected OAuth 2 access token, )"
          R"(login cookie or other valid authentication credential.",)"
          R"("status":"UNAUTHENTICATED"}}])",
          401);
    }
    const auto body = json::parse(request.body);
    if (auto no = refusal_of(wire, request, body)) return *std::move(no);
    const auto step = wire.step(body);
    if (step == 3 && !std::exchange(killed, true))
      return http_reply::sse().stall();
    return wire.reply(step);
  }};
  configure_wires(folder, server.url("/v1"), {wire.model});
  {
    program running{installed_riffle(),
                    folder,
                    {"run", "-m", wire.model, "--session", "s1", "go"},
                    env_of(folder)};
    // Steps 0 to 3, one of them twice.
    REQUIRE(server.wait_for_requests(5, std::chrono::seconds{60}));
    running.signal(SIGKILL);
    running.wait();
  }
  server.release();
  const auto x = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--output", "jsonl"},
      env_of(folder));
  INFO(x.err << x.out);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Contains("all read") && !Contains("vertex-token"));
  CHECK(expired == 2);
  CHECK(folder.lines("tokens").size() == 4);
}

TEST_CASE("azure: a wrong version says what to look at, and no key which") {
  const work_folder folder;
  const auto& wire = wire_of("azure/gpt-x");
  http_server server{[&](const http_request& request) {
    if (auto no = refusal_of(wire, request, json::parse(request.body)))
      return *std::move(no);
    return wire.reply(wire_steps);
  }};
  configure_wires(folder, server.url("/v1"), {"azure/gpt-x"});
  CHECK(run(folder, "azure/gpt-x").status == 0);
  auto env = env_of(folder);
  env["AZURE_OPENAI_API_KEY"] = "";
  const auto no_key =
      riffle::testing::riffle(folder, {"run", "-m", "azure/gpt-x", "go"}, env);
  CHECK(no_key.status == 2);
  CHECK_THAT(no_key.err, Contains("AZURE_OPENAI_API_KEY"));
  add_to_table(folder, "query = { api-version = \"2020-01-01\" }\n");
  const auto wrong = run(folder, "azure/gpt-x");
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out,
             Contains("HTTP 404: Resource not found") && Contains("base_url"));
}

TEST_CASE("mistral: no user speaks behind results, not of a plan, not anew") {
  const work_folder folder;
  http_server server{[&](const http_request& request) {
    const auto body = json::parse(request.body);
    if (has_wrong_order(body)) return wrong_order();
    if (tool_messages(request).empty())
      return respond_sse(calls(
          {{"manage_plan", {{"action", "create"}, {"steps", {"a", "b"}}}}}));
    if (tool_messages(request).size() == 1)
      return respond_sse(calls({{"read", {{"path", "f0.txt"}}}}));
    return respond_sse(answer("ok"));
  }};
  configure_wires(folder, server.url("/v1"), {"mistral/mi-x"});
  // Its steps are used up behind a result; the session goes on with a task.
  const auto cut = run(folder, "mistral/mi-x", {"--max-steps", "2"});
  CHECK(cut.status == 1);
  CHECK_THAT(cut.out, Contains("max_steps_exceeded"));
  const auto told = json::parse(server.requests().at(1).body).at("messages");
  CHECK(told.back().at("role") == "user");  // the plan
  const auto x = run(folder, "mistral/mi-x");
  INFO(x.err << x.out);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Contains("\"ok\""));
  CHECK(server.request_count() == 3);
}

TEST_CASE("gemini: a form beside tools, which it refuses, comes by a tool") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    const auto body = json::parse(request.body);
    if (body.contains("response_format") && body.contains("tools"))
      return http_reply::json(
          R"([{"error":{"code":400,"message":"Function calling with a )"
          R"(response mime type: 'application/json' is unsupported",)"
          R"("status":"INVALID_ARGUMENT"}}])",
          400);
    return respond_sse(calls({{"complete", {{"n", 3}}}}));
  }};
  configure_wires(folder, server.url("/v1"), {"gemini/gemini-x"});
  folder.write("form.json",
               R"({"type":"object","properties":{"n":{"type":"integer"}},)"
               R"("required":["n"]})");
  const auto x = run(folder, "gemini/gemini-x", {"--schema", "form.json"});
  INFO(x.err << x.out);
  CHECK(x.status == 0);
  CHECK(server.request_count() == 2);
  CHECK(of_type(checked_events(x.out), "final_answer")
            .at(0)
            .at("data")
            .at("content") == "{\"n\":3}");
}
