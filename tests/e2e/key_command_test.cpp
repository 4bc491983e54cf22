// SPDX-License-Identifier: MIT
// Keys that programs print, and what a person is told of a model that cannot
// be asked.
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "tests/e2e/models_world.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Line of the table: the key is printed by the program of the folder.
std::string printed_key(const work_folder& folder) {
  return "api_key_command = [\"" + (folder.path() / "print-key").string() +
         "\"]\n";
}

bool nobody_is_left_in(const work_folder& folder) {
  return eventually([&] { return processes_in(folder).empty(); });
}

/// A run of the scripted model, and what it asks a person.
struct waiting_run {
  explicit waiting_run(const http_user& who) {
    const auto x = who.post("/v1/runs", {{"task", "wait"}});
    INFO(x.body);
    REQUIRE(x.status == 202);
    id = x.json()["run_id"];
    REQUIRE(eventually([&] {
      const auto all = who.get("/v1/proposals?status=pending").json();
      for (const auto& one : all["proposals"])
        if (one["run_id"] == id) proposal = one["proposal_id"];
      return !proposal.empty();
    }));
  }
  std::string id;
  std::string proposal;
};

/// Posts, and does not wait for the answer.
std::unique_ptr<raw_client> ask_apart(const http_user& who,
                                      const std::string& path,
                                      const json& body) {
  auto out = std::make_unique<raw_client>(who.port());
  const auto text = body.dump();
  out->send("POST " + path +
            " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
            who.token() +
            "\r\nContent-Type: application/json\r\nContent-Length: " +
            std::to_string(text.size()) + "\r\n\r\n" + text);
  return out;
}

}  // namespace

TEST_CASE("a key that a command prints is printed anew when it is refused") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\n"
                "echo canary-key-$(wc -l < runs)\n");
  http_server server{[](const http_request& request) {
    if (request.header("authorization") == "Bearer canary-key-1")
      return http_reply::json(R"({"error":{"message":"expired"}})", 401);
    if (tool_messages(request).empty())
      return respond_sse(calls({{"read", {{"path", "runs"}}}}));
    return respond_sse(answer("ok"));
  }};
  configure_model(folder, server.url("/v1"), "groq/x",
                  "api_key_command = [\"" +
                      (folder.path() / "print-key").string() + "\"]\n");
  const auto x = run_configured(folder, {"run", "-m", "groq/x", "go"});
  INFO(x.err);
  CHECK(x.status == 0);
  CHECK(folder.lines("runs").size() == 2);
  REQUIRE(server.request_count() == 3);  // the second step has the new key
  CHECK(server.requests().at(2).header("authorization") ==
        "Bearer canary-key-2");
}

TEST_CASE("a command that prints no key says so") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  write_program(folder, "print-key",
                "#!/bin/sh\necho log in first >&2\nexit 3");
  configure_model(folder, server.url("/v1"), "groq/x",
                  "api_key_command = [\"" +
                      (folder.path() / "print-key").string() + "\"]\n");
  const auto x = run_configured(folder, {"run", "-m", "groq/x", "go"});
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains("print-key) ended with status 3: log in first"));
  CHECK(server.request_count() == 0);
}

TEST_CASE("a command that prints a refused key again is asked twice only") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\necho canary-key\n");
  http_server server{
      http_reply::json(R"({"error":{"message":"bad canary-key"}})", 401)};
  configure_model(folder, server.url("/v1"), "groq/x",
                  "api_key_command = [\"" +
                      (folder.path() / "print-key").string() + "\"]\n");
  const auto x = run_configured(folder, {"run", "-m", "groq/x", "go"});
  CHECK(x.status == 1);
  CHECK_THAT(x.err, Contains("HTTP 401") && !Contains("canary"));
  CHECK(folder.lines("runs").size() == 2);
  CHECK(server.request_count() == 1);
}

TEST_CASE("who ends the program does not wait for a command that hangs") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\nexec sleep 600\n");
  http_server server{respond_sse(answer("ok"))};
  configure_model(folder, server.url("/v1"), "groq/x", printed_key(folder));
  folder.write("plan.toml", "[[steps]]\nid = \"a\"\ninstruction = \"go\"\n");
  std::vector<std::string> command{"run", "-m", "groq/x", "go"};
  SECTION("a run") {}
  SECTION("a plan") { command = {"plan", "-m", "groq/x", "plan.toml"}; }
  program running{
      installed_riffle(),
      folder,
      command,
      {{"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}}};
  REQUIRE(eventually([&] { return folder.lines("runs").size() == 1; }));
  running.signal(SIGTERM);
  const auto end = running.wait(15s);  // the command has 30
  INFO(end.err);
  CHECK(end.status == 130);
  CHECK_THAT(end.err, Contains("asked to stop while api_key_command") &&
                          Contains("nothing was started"));
  CHECK(nobody_is_left_in(folder));
  CHECK(server.request_count() == 0);
}

TEST_CASE("a limit of time does not wait for a command that hangs") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\nexec sleep 600\n");
  http_server server{respond_sse(answer("ok"))};
  configure_model(folder, server.url("/v1"), "groq/x", printed_key(folder));
  program running{
      installed_riffle(),
      folder,
      {"run", "-m", "groq/x", "--timeout", "1s", "go"},
      {{"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}}};
  const auto end = running.wait(15s);  // the command has 30
  CHECK(end.status == 124);
  CHECK_THAT(end.err, Contains("the time limit is over") &&
                          Contains("nothing was started"));
  CHECK(nobody_is_left_in(folder));
  CHECK(server.request_count() == 0);
}

TEST_CASE("a run that is ended does not wait for a command that hangs") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\n"
                "test $(wc -l < runs) = 1 || exec sleep 600\n"
                "echo canary-key\n");
  http_server server{
      http_reply::json(R"({"error":{"message":"expired"}})", 401)};
  configure_model(folder, server.url("/v1"), "groq/x", printed_key(folder));
  program running{
      installed_riffle(),
      folder,
      {"run", "-m", "groq/x", "go", "--output", "jsonl"},
      {{"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}}};
  REQUIRE(eventually([&] { return folder.lines("runs").size() == 2; }));
  running.signal(SIGTERM);
  const auto end = running.wait(15s);  // the command has 30
  INFO(end.err);
  CHECK(end.status == 130);
  const auto ends = of_type(checked_events(end.out), "run_finished");
  REQUIRE(ends.size() == 1);
  CHECK(ends.at(0).at("data").at("status") == "cancelled");
  CHECK(nobody_is_left_in(folder));
}

TEST_CASE("a key program that hangs keeps nobody else of a server waiting") {
  const work_folder folder;
  write_program(folder, "print-key",
                "#!/bin/sh\necho run >> runs\nexec sleep 600\n");
  write_server(folder,
               "[[steps]]\n[[steps.calls]]\ntool = \"bash\"\n"
               "arguments = { command = \"echo x >> began\" }\n"
               "[[steps]]\ntext = \"Done.\"\n",
               "[models.\"groq/x\"]\nbase_url = \"http://127.0.0.1:9/v1\"\n" +
                   printed_key(folder));
  served server{folder};
  const auto who = server.user();
  const waiting_run first{who};
  const waiting_run second{who};
  std::vector<std::unique_ptr<raw_client>> hung;
  for (int i = 0; i < 8; ++i)
    hung.push_back(
        ask_apart(who, "/v1/runs", {{"task", "go"}, {"model", "groq/x"}}));
  REQUIRE(eventually([&] { return folder.lines("runs").size() == 1; }));
  std::this_thread::sleep_for(500ms);  // by then all are at it
  const auto asked = std::chrono::steady_clock::now();
  CHECK(who.post("/v1/proposals/" + first.proposal, {{"decision", "approve"}})
            .status == 200);
  CHECK(who.post("/v1/runs/" + second.id + "/cancel", json::object()).status ==
        202);
  CHECK(await_end(who, first.id)["status"] == "completed");
  CHECK(await_end(who, second.id)["status"] == "cancelled");
  CHECK(std::chrono::steady_clock::now() - asked < 10s);
  CHECK(folder.lines("runs").size() == 1);
  server.process().signal(SIGTERM);
  const auto end = server.process().wait(20s);
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK_THAT(end.err, !Contains("left behind"));
  CHECK(nobody_is_left_in(folder));
}

TEST_CASE("a resume whose key does not come keeps no thread of a server") {
  const work_folder folder;
  http_server provider{http_reply::sse().stall()};
  write_program(folder, "print-key",
                "#!/bin/sh\ntest -e hangs && echo run >> runs && "
                "exec sleep 600\necho canary-key\n");
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[models.\"groq/x\"]\nbase_url = \"" + provider.url("/v1") +
                   "\"\n" + printed_key(folder));
  served server{folder};
  std::vector<std::string> runs;
  for (int i = 0; i < 8; ++i) {
    const auto x =
        server.user().post("/v1/runs", {{"task", "go"}, {"model", "groq/x"}});
    REQUIRE(x.status == 202);
    runs.push_back(x.json()["run_id"]);
  }
  folder.write("hangs", "");
  server.kill_and_restart();
  const auto who = server.user();
  std::vector<std::unique_ptr<raw_client>> hung;
  for (const auto& run : runs)
    hung.push_back(
        ask_apart(who, "/v1/runs/" + run + "/resume", json::object()));
  REQUIRE(eventually([&] { return !folder.lines("runs").empty(); }));
  std::this_thread::sleep_for(500ms);  // by then all are at it
  const auto asked = std::chrono::steady_clock::now();
  CHECK(who.get("/v1/runs").status == 200);
  CHECK(std::chrono::steady_clock::now() - asked < 10s);
}

TEST_CASE("a server that does not run is told with what starts it") {
  const work_folder folder;
  const std::string nobody = "127.0.0.1:1";
  const auto told = [&](const std::string& model,
                        std::map<std::string, std::string> env = {}) {
    auto end = run_configured(folder, {"run", "-m", model, "go"}, env);
    CHECK(end.status == 1);
    const auto listed = run_configured(folder, {"models", "list", model}, env);
    CHECK(listed.status == 1);
    return end.err + listed.err;
  };
  const auto twice = [](const std::string& text, const std::string& part) {
    const auto at = text.find(part);
    return at != text.npos && text.find(part, at + 1) != text.npos;
  };
  configure_model(
      folder, "http://" + nobody + "/v1", "mine/x",
      "provider = \"vllm\"\nmodel = \"x\"\nretry.max_attempts = 1\n");
  CHECK(twice(told("mine/x"), "does it run? Start it: vllm serve MODEL"));
  configure_model(folder, "http://" + nobody + "/v1", "mine",
                  "retry.max_attempts = 1\n");
  CHECK(twice(told("mine"), "does the server run?"));
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto text = told("ollama/qwen3", {{"OLLAMA_HOST", nobody}});
  CHECK(twice(text, "Start it: ollama serve"));
  CHECK(twice(text,
              "the environment variable OLLAMA_HOST says that it is "
              "there"));
}

TEST_CASE("a model that its server does not have is told with its list") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"error":{"message":"no such model"}})", 404)};
  configure_model(folder, server.url("/v1"), "groq/x");
  const auto x = run_configured(folder, {"run", "-m", "groq/x", "go"},
                                {{"GROQ_API_KEY", "canary-key"}});
  CHECK(x.status == 1);
  CHECK_THAT(x.err, Contains("riffle models list groq/x shows"));
}

TEST_CASE("a key that is refused is told with where it is from") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"error":{"message":"invalid key"}})", 401)};
  configure_model(folder, server.url("/v1"), "groq/x");
  const std::map<std::string, std::string> key{{"GROQ_API_KEY", "canary-key"}};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "-m", "groq/x", "go"},
        {"models", "list", "groq/x"}}) {
    const auto x = run_configured(folder, words, key);
    CHECK(x.status == 1);
    CHECK_THAT(x.err, Contains("the key is that of the environment variable "
                               "GROQ_API_KEY"));
  }
}

TEST_CASE("an address of the environment gets the provider's path") {
  const work_folder folder;
  http_server server{http_reply::json(R"({"data":[{"id":"claude-x"}]})")};
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  auto there = server.url("");
  std::string path = "/v1/models";
  SECTION("it has none") {}
  SECTION("it ends with a slash") { there += "/"; }
  SECTION("it has one") {
    there += "/gate";
    path = "/gate/models";
  }
  const auto x = run_configured(
      folder, {"models", "list", "anthropic"},
      {{"ANTHROPIC_API_KEY", "canary-key"}, {"ANTHROPIC_BASE_URL", there}});
  INFO(x.err);
  CHECK(x.status == 0);
  REQUIRE(server.request_count() == 1);
  CHECK(server.requests().at(0).target.starts_with(path));
}

TEST_CASE("a fallback that cannot be asked is told as one") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  configure_model(folder, server.url("/v1"), "groq/x",
                  "fallback = [\"mistral/y\"]\n");
  const auto x = run_configured(folder, {"run", "-m", "groq/x", "go"},
                                {{"GROQ_API_KEY", "canary-key"}});
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains("mistral/y, a fallback of groq/x: there is no API "
                             "key for mistral"));
}

TEST_CASE("names that are misspelled are told with what was meant") {
  const work_folder folder;
  folder.write("riffle.toml", "[models.mine]\nmodel = \"x\"\n");
  const auto told = [&](const std::string& model) {
    const auto x = run_configured(folder, {"run", "-m", model, "go"});
    CHECK(x.status == 2);
    return x.err;
  };
  CHECK_THAT(told("antropic/claude-sonnet-4-5"),
             Contains("did you mean \"anthropic/claude-sonnet-4-5\"?"));
  CHECK_THAT(run_configured(folder, {"models", "list", "anthropc"}).err,
             Contains("did you mean \"anthropic\"?"));
  CHECK_THAT(told("OpenAI/x"), Contains("did you mean \"openai/x\"?"));
  for (const auto* name : {"openai", "openai/"})
    CHECK_THAT(told(name), Contains("'riffle models list openai' lists them"));
  CHECK_THAT(told("mime"), Contains("did you mean \"mine\"?"));
  CHECK_THAT(told("quite/else"), !Contains("did you mean"));
}

TEST_CASE("all variables that a provider lacks are named at once") {
  const work_folder folder;
  const auto told = [&](const std::string& model,
                        std::map<std::string, std::string> env) {
    for (const char* name : {"OPENAI_API_KEY", "RIFFLE_CONFIG"})
      env.emplace(name, "");
    const auto x =
        riffle::testing::riffle(folder, {"run", "-m", model, "go"}, env);
    CHECK(x.status == 2);
    return x.err;
  };
  CHECK_THAT(told("azure/gpt", {}),
             Contains("azure/gpt needs the environment variables "
                      "AZURE_OPENAI_API_KEY and AZURE_OPENAI_RESOURCE"));
  CHECK_THAT(
      told("azure/gpt", {{"AZURE_OPENAI_API_KEY", "some-key"}}),
      Contains("AZURE_OPENAI_RESOURCE") && !Contains("AZURE_OPENAI_API_KEY"));
  CHECK_THAT(told("bedrock/x", {}),
             Contains("AWS_BEARER_TOKEN_BEDROCK and AWS_REGION"));
  CHECK_THAT(told("vertex/x", {}),
             Contains("variables GOOGLE_CLOUD_LOCATION and "
                      "GOOGLE_CLOUD_PROJECT, which"));
  CHECK_THAT(told("anthropic/x", {}),
             Contains("there is no API key for anthropic: set the environment "
                      "variable ANTHROPIC_API_KEY"));
}

TEST_CASE("an address of a variable is no secret") {
  const work_folder folder;
  configure_model(folder, "http://${MY_PLACE}:1/v1", "mine");
  const auto x = run_configured(folder, {"models", "list", "mine"},
                                {{"MY_PLACE", "localhost"}});
  CHECK(x.status == 1);
  CHECK_THAT(x.err, Contains("connect to localhost port 1"));
}
