// SPDX-License-Identifier: MIT
// Models by name: providers that need no table, keys, headers, and what the
// program says of a model.
#include "tests/e2e/models_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json first_body(const http_server& server) {
  return json::parse(server.requests().at(0).body);
}

constexpr auto two_calls =
    R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[)"
    R"({"index":0,"id":"a","function":{"name":"note_city","arguments":"{\"city\":\"Oslo\"}"}},)"
    R"({"index":1,"id":"b","function":{"name":"note_city","arguments":"{\"city\":\"Rome\"}"}}]},)"
    R"("finish_reason":"tool_calls"}]})"
    "\n\n";

constexpr auto reasoning =
    R"(data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})"
    "\n\n";

constexpr auto tokens =
    R"(data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":30}})"
    "\n\n";

}  // namespace

TEST_CASE("a provider's model is named on the command line, and that is all") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  configure_model(folder, server.url("/v1"), "groq/llama-3.3-70b");
  const auto x =
      run_configured(folder, {"run", "-m", "groq/llama-3.3-70b", "go"},
                     {{"GROQ_API_KEY", "gsk-canary-1234"}});
  CHECK(x.status == 0);
  CHECK(x.out == "ok\n");
  CHECK(first_body(server).at("model") == "llama-3.3-70b");
  CHECK_FALSE(first_body(server).contains("temperature"));
  CHECK(server.requests().at(0).header("authorization") ==
        "Bearer gsk-canary-1234");
}

TEST_CASE("the environment may say where a provider is, a table stands above") {
  const work_folder folder;
  http_server moved{respond_sse(answer("moved"))};
  http_server named{respond_sse(answer("named"))};
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto ask = [&] {
    return run_configured(folder, {"run", "-m", "groq/llama-3.3-70b", "go"},
                          {{"GROQ_API_KEY", "gsk-canary-1234"},
                           {"GROQ_BASE_URL", moved.url("/v1")}});
  };
  CHECK(ask().out == "moved\n");
  configure_model(folder, named.url("/v1"), "groq/llama-3.3-70b");
  CHECK(ask().out == "named\n");
  CHECK(moved.request_count() == 1);
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto odd = run_configured(
      folder, {"run", "-m", "groq/llama-3.3-70b", "go"},
      {{"GROQ_API_KEY", "gsk-canary-1234"}, {"GROQ_BASE_URL", "nonsense"}});
  CHECK(odd.status == 2);
  CHECK_THAT(odd.err, Contains("\"nonsense\"") && Contains("GROQ_BASE_URL"));
}

TEST_CASE("a missing key says which variable") {
  const work_folder folder;
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto x = run_configured(folder, {"run", "-m", "mistral/small", "go"},
                                {{"MISTRAL_API_KEY", ""}});
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains("MISTRAL_API_KEY") && Contains("for mistral:"));
  const auto azure = run_configured(folder, {"run", "-m", "azure/gpt", "go"});
  CHECK(azure.status == 2);
  CHECK_THAT(azure.err, Contains("AZURE_OPENAI_RESOURCE"));
}

TEST_CASE("an unknown provider names those that there are") {
  const work_folder folder;
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto x = run_configured(folder, {"run", "-m", "grok/x", "go"});
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains("there is no model \"grok/x\"") &&
                        Contains("xai") && Contains("llama.cpp"));
}

TEST_CASE("no tool sees the key of a provider's model") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"bash", {{"command", "env; echo done"}}}}));
    return respond_sse(answer("ok"));
  }};
  configure_model(folder, server.url("/v1"), "groq/x",
                  "headers = { X-Gate = \"t ${GATE_TOKEN}\" }\n");
  const auto x =
      run_configured(folder, {"run", "-m", "groq/x", "--approve", "all", "go"},
                     {{"GROQ_API_KEY", "gsk-canary-1234"},
                      {"GATE_TOKEN", "gate-canary-5678"}});
  CHECK(x.status == 0);
  REQUIRE(server.request_count() == 2);
  CHECK(server.requests().at(0).header("x-gate") == "t gate-canary-5678");
  const auto told = server.requests().at(1).body;
  CHECK_THAT(told, Contains("done") && !Contains("canary"));
}

TEST_CASE("headers, query and organization reach the server") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.default]\n"
               "model = \"gpt x\"\nbase_url = \"" +
                   server.url("/d/{model}") +
                   "\"\norganization = \"org-7\"\napi_key_env = \"\"\n"
                   "query = { api-version = \"1 &2\" }\n"
                   "headers = { X-Team = \"a\", api-key = \"${MY_KEY}\" }\n");
  const auto x =
      run_configured(folder, {"run", "go"}, {{"MY_KEY", "canary-1234"}});
  CHECK(x.status == 0);
  const auto seen = server.requests().at(0);
  CHECK(seen.target == "/d/gpt%20x/chat/completions?api-version=1%20%262");
  CHECK(seen.header("openai-organization") == "org-7");
  CHECK(seen.header("x-team") == "a");
  CHECK(seen.header("api-key") == "canary-1234");
  CHECK(seen.header("authorization").empty());
  const auto without = run_configured(folder, {"run", "go"});
  CHECK(without.status == 2);
  CHECK_THAT(without.err, Contains("MY_KEY") && Contains("header api-key"));
}

TEST_CASE("the server's address may name variables") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  configure_model(folder, server.url("/${PLACE}/v1"), "vllm/x");
  CHECK(
      run_configured(folder, {"run", "-m", "vllm/x", "go"}, {{"PLACE", "here"}})
          .status == 0);
  CHECK(server.requests().at(0).target == "/here/v1/chat/completions");
  const auto without = run_configured(folder, {"run", "-m", "vllm/x", "go"});
  CHECK(without.status == 2);
  CHECK_THAT(without.err, Contains("PLACE, which is not set"));
}

TEST_CASE("a server is asked which models it has") {
  const work_folder folder;
  http_server server{http_reply::json(
      R"({"object":"list","data":[{"id":"a-1"},{"id":"b/2"}]})")};
  configure_model(folder, server.url("/v1"), "groq/x");
  const auto x = run_configured(folder, {"models", "list", "groq/x"},
                                {{"GROQ_API_KEY", "gsk-canary-1234"}});
  CHECK(x.status == 0);
  CHECK(x.out == "groq/a-1\ngroq/b/2\n");
  CHECK(server.requests().at(0).method == "GET");
  CHECK(server.requests().at(0).target == "/v1/models");
  CHECK(server.requests().at(0).header("authorization") ==
        "Bearer gsk-canary-1234");
  const auto lines =
      run_configured(folder, {"models", "list", "groq/x", "--output", "jsonl"},
                     {{"GROQ_API_KEY", "k-canary"}});
  CHECK(lines.out ==
        "{\"name\":\"groq/a-1\",\"id\":\"a-1\"}\n"
        "{\"name\":\"groq/b/2\",\"id\":\"b/2\"}\n");
}

TEST_CASE("a list of models that does not come says why") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"error":{"message":"who are you"}})", 401),
      http_reply::text("hello")};
  configure_model(folder, server.url("/v1"), "vllm/x");
  const auto refused = run_configured(folder, {"models", "list", "vllm/x"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("HTTP 401: who are you"));
  const auto odd = run_configured(folder, {"models", "list", "vllm/x"});
  CHECK(odd.status == 1);
  CHECK_THAT(odd.err, Contains("no list of models"));
  // More than is taken: nothing waits for room that nobody gives.
  http_server flood{http_reply::json(std::string(17u << 20, ' '))};
  configure_model(folder, flood.url("/v1"), "vllm/x");
  const auto endless = run_configured(folder, {"models", "list", "vllm/x"});
  CHECK(endless.status == 1);
  CHECK_THAT(endless.err, Contains("no end within 16 MiB"));
  CHECK(run_configured(folder, {"models", "list", "nobody/x"}).status == 2);
  CHECK(run_configured(folder, {"models", "list", "xai"}, {{"XAI_API_KEY", ""}})
            .status == 2);
}

TEST_CASE("providers are listed with the variables of their keys") {
  const work_folder folder;
  folder.write("riffle.toml", "");
  const auto x = run_configured(folder, {"models", "providers"},
                                {{"XAI_API_KEY", "k"}, {"GROQ_API_KEY", ""}});
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Contains("anthropic   anthropic  $ANTHROPIC_API_KEY") &&
                        Contains("xai         openai     $XAI_API_KEY\n") &&
                        Contains("$GROQ_API_KEY (not set)\n") &&
                        Contains("key of 'gcloud auth print-access-token'") &&
                        Contains("ollama      ollama     needs no key\n"));
}

TEST_CASE("a model is checked with one request") {
  const work_folder folder;
  const std::string done = "data: [DONE]\n\n";
  http_server server{
      respond_sse(reasoning + std::string{two_calls} + tokens + done)};
  configure_model(folder, server.url("/v1"), "vllm/x");
  const auto x = run_configured(folder, {"models", "check", "vllm/x"});
  CHECK(x.status == 0);
  for (const auto* good :
       {"streaming   yes", "tools       yes", "parallel    yes: 2 calls",
        "reasoning   yes", "usage       yes: 90 tokens in, 30 out"})
    CHECK_THAT(x.out, Contains(good));
  CHECK(server.request_count() == 1);
  const auto body = first_body(server);
  CHECK(body.at("tools").size() == 1);
  CHECK(body.at("messages").size() == 1);
  const auto as_json =
      run_configured(folder, {"models", "check", "vllm/x", "--output", "json"});
  const auto said = json::parse(as_json.out);
  for (const auto* key :
       {"works", "streaming", "tools", "parallel", "reasoning", "usage"}) {
    CAPTURE(key);
    CHECK(said.at(key) == true);
  }
  CHECK(said.at("input_tokens") == 90);
}

TEST_CASE("what does not work with a model is said") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"choices":[{"message":{"content":"Oslo, Rome"},)"
                       R"("finish_reason":"stop"}]})")};
  configure_model(folder, server.url("/v1"), "vllm/x", "streaming = false\n");
  const auto x = run_configured(folder, {"models", "check", "vllm/x"});
  CHECK(x.status == 1);
  for (const auto* bad :
       {"streaming   no", "tools       no: it said: Oslo, Rome",
        "parallel    no", "reasoning   no", "usage       no"})
    CHECK_THAT(x.out, Contains(bad));
  http_server broken{
      http_reply::json(R"({"error":{"message":"no such model"}})", 404)};
  configure_model(folder, broken.url("/v1"), "vllm/x");
  const auto y = run_configured(folder, {"models", "check", "vllm/x"});
  CHECK(y.status == 1);
  CHECK_THAT(y.out, Contains("answer      no: HTTP 404: no such model"));
  const auto as_json =
      run_configured(folder, {"models", "check", "vllm/x", "--output", "json"});
  CHECK(json::parse(as_json.out).at("error").at("code") == "model_error");
}
