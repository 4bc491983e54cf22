// SPDX-License-Identifier: MIT
// Each value of each parameter, and what the request of each dialect says.
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

using asked = model::request_options;

const std::array<const char*, 4> all_dialects{"openai", "anthropic",
                                              "responses", "ollama"};

/// A parameter with a value, and the members of the body that it changes, in
/// the order of the dialects; "{}": there is no place for it.
struct parameter_row {
  std::string_view parameter;
  std::function<void(asked&)> set;
  std::array<const char*, 4> bodies;
};

const std::vector<parameter_row> choice_rows{
    {"tool_choice",
     [](asked& x) { x.tool_choice = "auto"; },
     {R"({"tool_choice":"auto"})", R"({"tool_choice":{"type":"auto"}})",
      R"({"tool_choice":"auto"})", "{}"}},
    {"tool_choice",
     [](asked& x) { x.tool_choice = "none"; },
     {R"({"tool_choice":"none"})", R"({"tool_choice":{"type":"none"}})",
      R"({"tool_choice":"none"})", "{}"}},
    {"tool_choice",
     [](asked& x) { x.tool_choice = "required"; },
     {R"({"tool_choice":"required"})", R"({"tool_choice":{"type":"any"}})",
      R"({"tool_choice":"required"})", "{}"}},
    {"tool_choice",
     [](asked& x) { x.tool_choice = "now"; },
     {R"({"tool_choice":{"type":"function","function":{"name":"now"}}})",
      R"({"tool_choice":{"type":"tool","name":"now"}})",
      R"({"tool_choice":{"type":"function","name":"now"}})", "{}"}},
    {"parallel_tool_calls",
     [](asked& x) { x.parallel_tool_calls = true; },
     {R"({"parallel_tool_calls":true})",
      R"({"tool_choice":{"type":"auto","disable_parallel_tool_use":false}})",
      R"({"parallel_tool_calls":true})", "{}"}},
    {"parallel_tool_calls",
     [](asked& x) { x.parallel_tool_calls = false; },
     {R"({"parallel_tool_calls":false})",
      R"({"tool_choice":{"type":"auto","disable_parallel_tool_use":true}})",
      R"({"parallel_tool_calls":false})", "{}"}},
};

const std::vector<parameter_row> thought_rows{
    {"reasoning_effort",
     [](asked& x) { x.reasoning_effort = "none"; },
     {R"({"reasoning_effort":"none"})",
      R"({"output_config":{"effort":"none"}})",
      R"({"reasoning":{"effort":"none","summary":"auto"}})",
      R"({"think":false})"}},
    {"reasoning_effort",
     [](asked& x) { x.reasoning_effort = "low"; },
     {R"({"reasoning_effort":"low"})", R"({"output_config":{"effort":"low"}})",
      R"({"reasoning":{"effort":"low","summary":"auto"}})",
      R"({"think":"low"})"}},
    {"reasoning_effort",
     [](asked& x) { x.reasoning_effort = "high"; },
     {R"({"reasoning_effort":"high"})",
      R"({"output_config":{"effort":"high"}})",
      R"({"reasoning":{"effort":"high","summary":"auto"}})",
      R"({"think":"high"})"}},
    {"thinking_budget",
     [](asked& x) { x.thinking_budget = 0; },
     {"{}", R"({"thinking":{"type":"disabled"}})", "{}", "{}"}},
    {"thinking_budget",
     [](asked& x) { x.thinking_budget = 1024; },
     {"{}", R"({"thinking":{"type":"enabled","budget_tokens":1024}})", "{}",
      "{}"}},
    // There is room for an answer behind the thoughts.
    {"thinking_budget",
     [](asked& x) { x.thinking_budget = 32000; },
     {"{}",
      R"({"thinking":{"type":"enabled","budget_tokens":32000},
          "max_tokens":36096})",
      "{}", "{}"}},
};

const std::vector<parameter_row> number_rows{
    {"temperature",
     [](asked& x) { x.temperature = 0.0; },
     {R"({"temperature":0.0})", R"({"temperature":0.0})",
      R"({"temperature":0.0})", R"({"options":{"temperature":0.0}})"}},
    {"temperature",
     [](asked& x) { x.temperature = 1.5; },
     {R"({"temperature":1.5})", R"({"temperature":1.5})",
      R"({"temperature":1.5})", R"({"options":{"temperature":1.5}})"}},
    {"top_p",
     [](asked& x) { x.top_p = 0.25; },
     {R"({"top_p":0.25})", R"({"top_p":0.25})", R"({"top_p":0.25})",
      R"({"options":{"top_p":0.25}})"}},
    {"stop",
     [](asked& x) { x.stop = {"a", "\n"}; },
     {R"({"stop":["a","\n"]})", R"({"stop_sequences":["a","\n"]})", "{}",
      R"({"options":{"stop":["a","\n"]}})"}},
    {"seed",
     [](asked& x) { x.seed = 0; },
     {R"({"seed":0})", "{}", "{}", R"({"options":{"seed":0}})"}},
    {"seed",
     [](asked& x) { x.seed = -3; },
     {R"({"seed":-3})", "{}", "{}", R"({"options":{"seed":-3}})"}},
    {"max_output_tokens",
     [](asked& x) { x.max_output_tokens = 7; },
     {R"({"max_tokens":7})", R"({"max_tokens":7})",
      R"({"max_output_tokens":7})", R"({"options":{"num_predict":7}})"}},
    {"keep_alive",
     [](asked& x) { x.keep_alive = "10m"; },
     {"{}", "{}", "{}", R"({"keep_alive":"10m"})"}},
};

asked asked_plainly() {
  asked x;
  x.model = "m";
  x.tools = {{"now", "", ""}};
  return x;
}

/// What is in `with` and not so in `without`; all that was there is.
json added(const json& with, const json& without) {
  auto out = json::object();
  for (const auto& [name, value] : with.items())
    if (!without.contains(name) || without[name] != value) out[name] = value;
  for (const auto& [name, value] : without.items()) CHECK(with.contains(name));
  return out;
}

void check_rows(const std::vector<parameter_row>& rows) {
  for (const auto& x : rows)
    for (std::size_t i = 0; i < all_dialects.size(); ++i) {
      auto set = asked_plainly();
      x.set(set);
      const std::string name = all_dialects[i];
      const auto body = request_of(name, set);
      const auto want = json::parse(x.bodies[i]);
      CAPTURE(name, x.parameter, body.dump());
      CHECK(added(body, request_of(name, asked_plainly())) == want);
      CHECK(model::can_express(name, x.parameter) == !want.empty());
    }
}

std::uint64_t most_tokens(const std::string& model) {
  asked x;
  x.model = model;
  return request_of("anthropic", x).at("max_tokens");
}

}  // namespace

TEST_CASE("which tools are called is said in the words of each dialect") {
  check_rows(choice_rows);
}

TEST_CASE("how much is thought is said in the words of each dialect") {
  check_rows(thought_rows);
}

TEST_CASE("each number of a request has its name in each dialect") {
  check_rows(number_rows);
}

TEST_CASE("without tools nothing is said about how they are called") {
  asked x;
  x.model = "m";
  x.tool_choice = "required";
  x.parallel_tool_calls = true;
  asked without;
  without.model = "m";
  for (const auto* name : all_dialects)
    CHECK(request_of(name, x) == request_of(name, without));
}

TEST_CASE("anthropic: who may call nothing is not told how many at a time") {
  auto x = asked_plainly();
  x.tool_choice = "none";
  x.parallel_tool_calls = false;
  CHECK(request_of("anthropic", x).at("tool_choice") == json{{"type", "none"}});
}

TEST_CASE("anthropic: without a number a model may say what it can") {
  for (const auto* model : {"claude-3-haiku-20240307", "claude-3-opus-20240229",
                            "claude-3-sonnet-20240229"})
    CHECK(most_tokens(model) == 4096);
  CHECK(most_tokens("claude-3-5-haiku-20241022") == 8192);
  CHECK(most_tokens("claude-3-5-sonnet-latest") == 8192);
  for (const auto* model : {"claude-3-7-sonnet-latest", "claude-opus-4-1",
                            "claude-sonnet-4-5", "what nobody knows"})
    CHECK(most_tokens(model) == 32000);
}
