// SPDX-License-Identifier: MIT
// Models: providers that need no table, and what a table must hold.
#include <set>

#include "runtime/config/json_text.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/providers.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

config::config load_text(const std::string& text) {
  config::load_request request;
  request.text = text;
  auto x = config::load(request);
  if (!x)
    for (const auto& m : x.error()) UNSCOPED_INFO(config::render(m));
  REQUIRE(x);
  return *x;
}

/// The only mistake of a text, without its place.
std::string mistake_of(const std::string& text) {
  config::load_request request;
  request.text = text;
  const auto x = config::load(request);
  if (x) return "none";
  CHECK(x.error().size() == 1);
  return x.error().front().message;
}

}  // namespace

TEST_CASE("the providers that are built in have no mistake") {
  REQUIRE(config::providers().size() == 19);
  const std::set<std::string> without_key{"ollama", "lmstudio", "llama.cpp",
                                          "vllm"};
  std::set<std::string> hosts;
  for (const auto& x : config::providers()) {
    CAPTURE(x.name);
    const auto& settings = x.settings;
    CHECK(settings.provider == x.name);
    CHECK(hosts.insert(settings.base_url).second);
    CHECK(config::variables_in(settings.base_url));
    const bool has_key = !config::key_variables(settings).empty() ||
                         !settings.api_key_command.empty();
    CHECK(has_key == !without_key.contains(x.name));
    CHECK(settings.base_url.starts_with(has_key ? "https://" : "http://127."));
    CHECK_FALSE(settings.parameters.temperature);
    // Who gets something back says what, and for how long.
    const bool none = x.keeps.starts_with("nothing");
    CHECK_FALSE(x.keeps.empty());
    CHECK(none == (x.odd.returns.empty() && settings.dialect == "openai"));
    CHECK((none || x.keeps.find(": ") != x.keeps.npos));
  }
}

TEST_CASE("a mistake in a list of providers is seen") {
  const auto mistake = [](const char* text) {
    std::vector<config::mistake> found;
    static_cast<void>(config::parse_providers(text, found));
    return found.empty() ? "none" : found.front().message;
  };
  CHECK(mistake("[a]\nbase_url = \"http://a\"") == "none");
  CHECK(mistake("[a]\nbase = \"http://a\"") != "none");
  CHECK(mistake("[a]\nmodel = \"x\"") != "none");
  CHECK(mistake("[a]\nkeeps = \"\"") != "none");
  CHECK(mistake("a = 1") == "a: must be a table");
  CHECK(mistake("[") != "none");
}

TEST_CASE("a model of a provider needs no table") {
  const auto plain = load_text("");
  const auto x = config::find_model(plain, "anthropic/claude-sonnet-4-5");
  REQUIRE(x);
  CHECK(x->model == "claude-sonnet-4-5");
  CHECK(x->dialect == "anthropic");
  CHECK(x->base_url == "https://api.anthropic.com/v1");
  CHECK(x->api_key_env == "ANTHROPIC_API_KEY");
  CHECK(x->context_window == 200000);
  CHECK(config::find_model(plain, "openrouter/z-ai/glm:free")->model ==
        "z-ai/glm:free");
  CHECK(config::find_model(plain, "llama.cpp/x")->api_key_env.empty());
  CHECK(config::find_model(plain, "default"));
  for (const auto* none : {"anthropic", "anthropic/", "nobody/x", "/x", ""})
    CHECK_FALSE(config::find_model(plain, none));
  CHECK_THAT(config::unknown_model(plain, "nobody/x"),
             StartsWith("there is no model \"nobody/x\"; known: default, and "
                        "PROVIDER/MODEL of: openai, anthropic, "));
}

TEST_CASE("an agent's model of a provider stands in the configuration") {
  const auto x = load_text(
      "agents.default.model = \"deepseek/deepseek-chat\"\n"
      "models.default.fallback = [\"groq/a\"]\n");
  CHECK(x.models.at("deepseek/deepseek-chat").api_key_env ==
        "DEEPSEEK_API_KEY");
  CHECK(x.models.at("groq/a").api_key_env == "GROQ_API_KEY");
  CHECK(x.models.size() == 3);
  // And it is shown so that it can be read back.
  const auto again = load_text(config::to_toml(x));
  CHECK(config::settings(again) == config::settings(x));
}

TEST_CASE("a table with the name of a provider's model changes what it sets") {
  const auto x = load_text(
      "[models.\"anthropic/claude-x\"]\nmax_output_tokens = 7\n"
      "base_url = \"http://127.0.0.1:1\"\n");
  const auto& m = x.models.at("anthropic/claude-x");
  CHECK(m.parameters.max_output_tokens == 7);
  CHECK(m.base_url == "http://127.0.0.1:1");
  CHECK(m.dialect == "anthropic");
  CHECK(m.model == "claude-x");
  CHECK(x.origins.contains("models.\"anthropic/claude-x\".base_url"));
}

TEST_CASE("a table that names its provider has that one's defaults") {
  const auto x = load_text(
      "[models.fast]\nmodel = \"llama\"\napi_key_env = \"MINE\"\n"
      "provider = \"groq\"\n");
  const auto& m = x.models.at("fast");
  CHECK(m.base_url == "https://api.groq.com/openai/v1");
  CHECK(m.api_key_env == "MINE");
  CHECK(m.model == "llama");
  CHECK(mistake_of("models.fast.provider = \"groq\"") ==
        "models.fast.model: is missing: the name that groq has for the model");
  CHECK_THAT(mistake_of("models.fast.provider = \"grok\""),
             StartsWith("models.fast.provider: \"grok\" is not known; allowed: "
                        "openai, anthropic"));
}

TEST_CASE("a server that is a provider's is known as such") {
  const auto name_of = [](const char* url) {
    config::model_config x;
    x.base_url = url;
    const auto* found = config::provider_of(x);
    return found ? found->name : "";
  };
  CHECK(name_of("https://api.deepseek.com/beta") == "deepseek");
  CHECK(name_of("https://u:p@api.mistral.ai/v1") == "mistral");
  CHECK(name_of("https://mine.openai.azure.com/openai/x") == "azure");
  CHECK(name_of("https://api.deepseek.com.evil.org/v1").empty());
  CHECK(name_of("http://127.0.0.1:8080/v1").empty());
  CHECK(name_of("http://localhost:1234/v1").empty());
}

TEST_CASE("headers hold texts, and no keys") {
  const auto of = [](const std::string& headers) {
    return mistake_of("models.default.headers = " + headers);
  };
  CHECK(of("{ X-Team = \"a\", Authorization = \"Bearer ${K}\" }") == "none");
  CHECK(of("{ X-Team = 1 }") ==
        "models.default.headers: X-Team: must be a text");
  CHECK_THAT(of("{ \"X Team\" = \"a\" }"),
             Contains("is no name of an HTTP header"));
  CHECK_THAT(of("{ X-Team = \"a\\nEvil: b\" }"), Contains("line end"));
  for (const auto* open : {"${", "${}", "${A", "${A-B}"})
    CHECK_THAT(of("{ X-Team = \"" + std::string{open} + "\" }"),
               Contains("\"${NAME}\""));
  for (const auto* name :
       {"Authorization", "x-api-key", "api-key", "X-Token", "Cookie"})
    CHECK_THAT(of("{ " + std::string{name} + " = \"abc\" }"),
               Contains("keys never stand in files"));
  for (const auto* name : {"Content-Length", "transfer-encoding", "Connection",
                           "Trailer", "Upgrade", "Expect", "TE"})
    CHECK_THAT(of("{ " + std::string{name} + " = \"5\" }"),
               Contains("how a request is sent"));
  CHECK_THAT(mistake_of("models.default.query = { a = 1 }"),
             Contains("a: must be a text"));
  CHECK_THAT(mistake_of("models.default.query = { a = \"\\n\" }"),
             Contains("control characters"));
  CHECK_THAT(mistake_of("models.default.base_url = \"http://${A/v1\""),
             Contains("\"${NAME}\""));
}

TEST_CASE("what cannot stand together in a model's table") {
  CHECK_THAT(mistake_of("[models.default]\napi_key_env = \"A\"\n"
                        "api_key_command = [\"b\"]"),
             Contains("give either api_key_env or api_key_command"));
  CHECK_THAT(mistake_of("models.default.api_key_command = [\"\"]"),
             Contains("the program, is empty"));
  CHECK_THAT(mistake_of("models.default.fallback = [\"default\"]"),
             Contains("a model cannot take its own place"));
  CHECK_THAT(mistake_of("models.default.fallback = [\"other\"]"),
             Contains("there is no model \"other\""));
  CHECK_THAT(mistake_of("[models.default]\ndialect = \"anthropic\"\n"
                        "organization = \"o\""),
             Contains("\"anthropic\" has no such thing"));
  CHECK_THAT(
      mistake_of("models.default.model = \"anthropic/claude-x\""),
      Contains("write provider = \"anthropic\" and model = \"claude-x\""));
  CHECK(mistake_of("[models.default]\nprovider = \"openrouter\"\n"
                   "model = \"anthropic/claude-x\"") == "none");
  CHECK(mistake_of("[models.default]\nbase_url = \"http://127.0.0.1:1/v1\"\n"
                   "model = \"openai/gpt-oss\"") == "none");
  const std::string thinks =
      "[models.default]\ndialect = \"anthropic\"\nthinking_budget = 5000\n";
  CHECK_THAT(mistake_of(thinks + "max_output_tokens = 5000"),
             Contains("must be less than max_output_tokens"));
  CHECK(mistake_of(thinks + "max_output_tokens = 5001") == "none");
  CHECK_THAT(mistake_of("agents.default.response_schema = { type = \"text\" }"),
             Contains("is no JSON Schema of an object"));
}

TEST_CASE("the key of a provider's model is kept from tools") {
  CHECK_THAT(mistake_of("agents.default.model = \"groq/x\"\n"
                        "[tools.t]\ntype = \"command\"\ncommand = [\"true\"]\n"
                        "description = \"d\"\nenv = [\"GROQ_API_KEY\"]\n"
                        "parameters = { type = \"object\" }\n"),
             Contains("is the key of models.groq/x"));
  CHECK_THAT(mistake_of("models.default.headers = { X-Key = \"a ${MY_VAR}\" }\n"
                        "[tools.t]\ntype = \"command\"\ncommand = [\"true\"]\n"
                        "description = \"d\"\nenv = [\"MY_VAR\"]\n"
                        "parameters = { type = \"object\" }\n"),
             Contains("is the key of models.default"));
}

TEST_CASE("parameters that are not set are left to the provider") {
  const config::model_config plain;
  CHECK(config::set_parameters(plain.parameters).empty());
  const auto x = load_text(
      "[models.default]\ntemperature = 1\ntop_p = 0.5\n"
      "max_output_tokens = 5\nstop = [\"a\"]\nseed = 0\n"
      "reasoning_effort = \"low\"\ntool_choice = \"auto\"\n"
      "parallel_tool_calls = false\n");
  CHECK(config::set_parameters(x.models.at("default").parameters).size() == 8);
  for (const auto* wrong :
       {"temperature = 3", "top_p = 1.5", "max_output_tokens = 0",
        "stop = [\"\"]", "seed = 1.5", "thinking_budget = -1",
        "parallel_tool_calls = 1", "parallel_tool_calls = \"no\""}) {
    CAPTURE(wrong);
    CHECK(mistake_of("[agents.default]\n" + std::string{wrong}) != "none");
    CHECK(mistake_of("[models.default]\n" + std::string{wrong}) != "none");
  }
}
