// SPDX-License-Identifier: MIT
// What the configuration says of a model, as its server is told it.
#include "actors/run/asked_models.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/service/answer_form.hpp"
#include "runtime/service/model_asking.hpp"
#include "runtime/service/model_request.hpp"
#include "runtime/service/model_window.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::service;
using Catch::Matchers::Contains;

namespace {

config::parameters_config all_parameters() {
  config::parameters_config x;
  x.temperature = 0.5;
  x.top_p = 0.25;
  x.max_output_tokens = 7;
  x.stop = {"END"};
  x.seed = -3;
  x.reasoning_effort = "low";
  x.thinking_budget = 0;
  x.tool_choice = "auto";
  x.parallel_tool_calls = false;
  x.keep_alive = "5m";
  return x;
}

const std::vector<std::string> each_one{"temperature",
                                        "top_p",
                                        "max_output_tokens",
                                        "stop",
                                        "seed",
                                        "reasoning_effort",
                                        "thinking_budget",
                                        "tool_choice",
                                        "parallel_tool_calls",
                                        "keep_alive"};

}  // namespace

TEST_CASE("parameters become those of requests") {
  config::model_config model;
  model.model = "m";
  model.streaming = false;
  const auto plain = make_request(model, {}, {});
  CHECK(plain.model == "m");
  CHECK_FALSE(plain.streaming);
  CHECK(sent_parameters(plain).empty());
  CHECK(plain.extra.empty());
  CHECK(plain.context_window == 128000);
  model.extra.text = R"({"top_k":1,"n":2})";
  model.context_window = 9000;
  const auto x = make_request(model, all_parameters(), {});
  auto sent = each_one;
  sent.insert(sent.end(), {"top_k", "n"});
  CHECK(sent_parameters(x) == sent);
  CHECK(x.temperature == 0.5);
  CHECK(x.top_p == 0.25);
  CHECK(x.max_output_tokens == 7u);
  CHECK(x.seed == -3);
  CHECK(x.thinking_budget == 0u);
  CHECK(x.parallel_tool_calls == false);
  CHECK(x.keep_alive == "5m");
  CHECK(x.context_window == 9000);
}

TEST_CASE("each parameter can be left out alone") {
  config::model_config model;
  model.extra.text = R"({"top_k":1})";
  auto full = make_request(model, all_parameters(), {});
  full.response_schema = "{}";
  const auto all = sent_parameters(full);
  CHECK(all.size() == 12);
  for (const auto& name : all) {
    CAPTURE(name);
    auto rest = all;
    std::erase(rest, name);
    CHECK(sent_parameters(without_parameter(full, name)) == rest);
  }
  CHECK(without_parameter(full, "top_k").extra.empty());
}

TEST_CASE("what a dialect adds can be left out, too") {
  const auto options = [] {
    model::request_options x;
    x.model = "m";
    x.tools = {{"now", "", ""}};
    return x;
  }();
  using names = std::vector<std::string>;
  const std::vector<std::pair<std::string, names>> all{
      {"openai", {"stream_options"}},
      {"anthropic", {"eager_input_streaming"}},
      {"responses", {"include", "reasoning_summary"}},
      {"ollama", {}}};
  for (const auto& [name, additions] : all) {
    CAPTURE(name);
    const auto dialect = model::make_dialect(name);
    CHECK(sent_parameters(options, *dialect) == additions);
    const auto full = dialect->request_head(options);
    for (const auto& one : additions) {
      CHECK(core::is_added(one));
      const auto less = without_parameter(options, one);
      auto rest = additions;
      std::erase(rest, one);
      CHECK(sent_parameters(less, *dialect) == rest);
      const auto word = one == "reasoning_summary" ? "summary" : one;
      CHECK_THAT(full, Contains(word));
      CHECK_THAT(dialect->request_head(less), !Contains(word));
    }
  }
  model::request_options plain;
  plain.model = "gpt-4o";
  plain.streaming = false;
  for (const auto& [name, additions] : all)
    CHECK(model::make_dialect(name)->additions(plain).empty());
  CHECK_FALSE(core::is_added("temperature"));
}

TEST_CASE("what an agent sets stands over its model") {
  const auto all = all_parameters();
  const config::parameters_config none;
  CHECK(config::set_parameters(overlaid(none, all)) == each_one);
  CHECK(config::set_parameters(overlaid(all, none)) == each_one);
  auto over = none;
  over.temperature = 0;
  over.stop = {"X"};
  const auto x = overlaid(all, over);
  CHECK(x.temperature == 0);
  CHECK(x.stop == std::vector<std::string>{"X"});
  CHECK(x.seed == -3);
}

TEST_CASE("a list of models is read in every known form") {
  using names = std::vector<std::string>;
  CHECK(*read_model_list(R"({"data":[{"id":"a"},{"id":"b"}]})") ==
        names{"a", "b"});
  CHECK(*read_model_list(R"([{"id":"a"},{"x":1},{"id":2}])") == names{"a"});
  CHECK(*read_model_list(R"({"models":[{"name":"q:7b","model":"q:7b"}]})") ==
        names{"q:7b"});
  CHECK(*read_model_list(R"({"data":[{"id":"models/gemini-x"}]})") ==
        names{"gemini-x"});
  CHECK(read_model_list(R"({"data":[]})")->empty());
  for (const auto* bad : {"", "{}", "x", R"({"data":{}})", "[", "7"})
    CHECK_FALSE(read_model_list(bad));
}

TEST_CASE("a server is found by a provider's name, a model's, or none") {
  config::config x;
  x.agents["default"].model = "groq/a";
  CHECK(find_server(x, "")->provider == "groq");
  CHECK(find_server(x, "xai")->base_url == "https://api.x.ai/v1");
  CHECK(find_server(x, "xai/grok")->model == "grok");
  CHECK(find_server(x, "default")->model == "gpt-4.1-mini");
  CHECK(find_server(x, "nobody").error().code == errc::not_found);
}

TEST_CASE("an answer's form is checked, and nothing but the JSON is left") {
  const auto check = make_answer_check(
      R"({"type":"object","properties":{"n":{"type":"integer"}},)"
      R"("required":["n"]})");
  REQUIRE(check);
  const auto of = [&](std::string text) {
    auto problem = (*check)(text);
    return problem.empty() ? text : "! " + problem;
  };
  CHECK(of(R"({"n":1})") == R"({"n":1})");
  CHECK(of(" {\"n\": 1}\n") == " {\"n\": 1}\n");
  CHECK(of("```json\n{\"n\":1}\n```\n") == "{\"n\":1}");
  CHECK(of("```\n{\"n\":1}\n```") == "{\"n\":1}");
  CHECK(of("It is {\"n\":1}") == "! it is no JSON");
  CHECK(of("") == "! it is no JSON");
  CHECK(of("``````") == "! it is no JSON");
  CHECK(of("[1]") == "! it is no JSON object");
  CHECK(of(R"({"n":1,"n":2})") == "! the key \"n\" stands twice in one object");
  CHECK(of(R"({"n":1,"m":{"n":2},"l":[{"n":3},{"n":4}]})") ==
        R"({"n":1,"m":{"n":2},"l":[{"n":3},{"n":4}]})");
  CHECK_THAT(of(R"({"n":1,"l":[{"a":{},"k":3,"\u006b":4}]})"),
             Contains("the key \"k\" stands twice"));
  CHECK_THAT(of("{}"), Contains("n"));
  CHECK_THAT(of(R"({"n":"x"})"), Contains("/n"));
  CHECK_FALSE(make_answer_check("{"));
  CHECK_FALSE(make_answer_check(R"({"type":"array"})"));
}

TEST_CASE("a provider that knows no forms gets the form with a tool") {
  config::model_config x;
  CHECK(fits_schemas(x));
  x.provider = "deepseek";
  CHECK_FALSE(fits_schemas(x));
  x.provider.clear();
  x.dialect = "anthropic";
  for (const auto* old : {"claude-3-7-sonnet-latest", "claude-opus-4-20250514",
                          "claude-sonnet-4-0"}) {
    x.model = old;
    CHECK_FALSE(fits_schemas(x));
  }
  for (const auto* able :
       {"claude-sonnet-4-5", "claude-opus-4-1", "claude-x"}) {
    x.model = able;
    CHECK(fits_schemas(x));
  }
}

TEST_CASE("an answer of a form is what `complete` is called with") {
  using nlohmann::json;
  const std::string form =
      R"({"$schema":"x","type":"object","properties":{"n":{"type":"integer"}}})";
  CHECK(can_be_arguments(form));
  auto want = json::parse(form);
  want.erase("$schema");
  CHECK(json::parse(complete_parameters(form)) == want);
  CHECK(json::parse(complete_parameters(R"({"type":"object"})")) ==
        json::parse(R"({"type":"object","properties":{}})"));
  CHECK_THAT(complete_description(form), Contains("its arguments"));
  // Servers take no such thing as parameters of a tool.
  for (const auto* other :
       {R"({"a":1})", R"({"type":["object","null"]})",
        R"({"type":"object","anyOf":[{}]})", R"({"type":"object","$ref":"#"})",
        R"({"type":"object","enum":[{}]})"}) {
    CAPTURE(other);
    CHECK_FALSE(can_be_arguments(other));
    const auto schema = json::parse(complete_parameters(other));
    const std::string about =
        schema.at("properties").at("answer").at("description");
    CHECK_THAT(about, Catch::Matchers::EndsWith(other));
    CHECK_THAT(complete_description(other), Contains("its argument holds"));
  }
}

TEST_CASE("in the end a model is made to call `complete`, as its server can") {
  run_spec spec;
  spec.completing =
      model::tool_description{"complete", "d", R"({"type":"object"})"};
  model::request_options x;
  x.model = "m";
  x.tools = {{"read", "", ""}};
  x.response_schema = R"({"type":"object"})";
  x.thinking_budget = 2000;
  x.tool_choice = "auto";
  const auto head = [&](const char* dialect, bool forces) {
    const auto made = completing_request(spec, x, forces);
    const auto to = model::make_dialect(dialect);
    return nlohmann::json::parse(to->request_head(made) +
                                 to->request_tail(made));
  };
  using nlohmann::json;
  CHECK(head("openai", true).at("tool_choice") ==
        json::parse(R"({"type":"function","function":{"name":"complete"}})"));
  CHECK(head("responses", true).at("tool_choice") ==
        json::parse(R"({"type":"function","name":"complete"})"));
  const auto claude = head("anthropic", true);
  CHECK(claude.at("tool_choice") ==
        json::parse(R"({"type":"tool","name":"complete"})"));
  CHECK_FALSE(claude.contains("thinking"));
  CHECK_FALSE(claude.contains("output_config"));
  CHECK(claude.at("tools").size() == 2);  // so that the cache still holds
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"}) {
    const auto body = head(name, false);
    CHECK_FALSE(body.contains("tool_choice"));
    REQUIRE(body.at("tools").size() == 1);
    CHECK_THAT(body.at("tools").dump(), Contains("complete"));
  }
  config::model_config model;
  CHECK(can_force(model));
  model.dialect = "ollama";
  CHECK_FALSE(can_force(model));
}

TEST_CASE("a window of its own is read in what Ollama says of a model") {
  const auto read = [](const char* info) {
    return read_own_window(std::string{R"({"license":"x","model_info":)"} +
                           info + "}");
  };
  CHECK(read(R"({"general.architecture":"qwen3","qwen3.block_count":3,
                 "qwen3.context_length":40960})") == 40960u);
  CHECK(read(R"({"a.vision.context_length":77,"llama.context_length":8192,
                 "general.architecture":"llama"})") == 8192u);
  CHECK(read(R"({"llama.context_length":8192})") == 8192u);
  for (const auto* bad :
       {"7", "{}", R"({"llama.context_length":0})",
        R"({"llama.context_length":"8192"})", R"({"context_length":8192})"})
    CHECK_FALSE(read(bad));
  for (const auto* bad : {"", "[]", "{}", "404 page not found"})
    CHECK_FALSE(read_own_window(bad));
}
