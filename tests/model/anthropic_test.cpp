// SPDX-License-Identifier: MIT
// Anthropic's messages: requests, answers, and what goes back.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string block(int index, const json& start,
                  const std::vector<json>& deltas) {
  auto out = typed_event({{"type", "content_block_start"},
                          {"index", index},
                          {"content_block", start}});
  for (const auto& x : deltas)
    out += typed_event(
        {{"type", "content_block_delta"}, {"index", index}, {"delta", x}});
  return out + typed_event({{"type", "content_block_stop"}, {"index", index}});
}

std::string finish(const std::string& word) {
  return typed_event({{"type", "message_delta"},
                      {"delta", {{"stop_reason", word}}},
                      {"usage", {{"output_tokens", 9}}}}) +
         typed_event({{"type", "message_stop"}});
}

const std::string thought =
    block(0, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}},
          {{{"type", "thinking_delta"}, {"thinking", "h\u00e9"}},
           {{"type", "thinking_delta"}, {"thinking", "m \" \\ "}},
           {{"type", "signature_delta"}, {"signature", "c2ln/+=="}}}) +
    block(1, {{"type", "redacted_thinking"}, {"data", "xyz"}}, {}) +
    block(2, {{"type", "text"}, {"text", ""}},
          {{{"type", "text_delta"}, {"text", "look"}}}) +
    block(3,
          {{"type", "tool_use"},
           {"id", "toolu_1"},
           {"name", "now"},
           {"input", json::object()},
           {"caller", {{"type", "direct"}}}},
          {{{"type", "input_json_delta"}, {"partial_json", ""}},
           {{"type", "input_json_delta"}, {"partial_json", "{\"a\":1}"}}});

}  // namespace

TEST_CASE("every name of a dialect gives one, and only those") {
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"})
    CHECK(model::make_dialect(name));
  CHECK_FALSE(model::make_dialect("claude"));
  CHECK_FALSE(model::can_express("claude", "temperature"));
  CHECK(model::can_express("anthropic", "thinking_budget"));
  CHECK_FALSE(model::can_express("anthropic", "seed"));
  CHECK_FALSE(model::can_express("responses", "stop"));
  CHECK_FALSE(model::can_express("ollama", "tool_choice"));
}

TEST_CASE("anthropic: every parameter has its place in the body") {
  auto options = all_options();
  options.stop = {"x"};
  options.thinking_budget = 5;
  options.reasoning_effort = "low";
  options.tool_choice = "required";
  options.parallel_tool_calls = false;
  CHECK(request_of("anthropic", options) ==
        json::parse(R"({"model":"m","stream":true,"max_tokens":7,"more":1,
    "thinking":{"type":"enabled","budget_tokens":5},
    "temperature":0.5,"top_p":0.25,"stop_sequences":["x"],
    "output_config":{"effort":"low"},
    "tool_choice":{"type":"any","disable_parallel_tool_use":true},
    "tools":[{"name":"now","description":"time","eager_input_streaming":true,
      "input_schema":{"type":"object","properties":{"a":{}}}},
     {"name":"look","description":"","eager_input_streaming":true,
      "input_schema":{"type":"object","properties":{}},
      "cache_control":{"type":"ephemeral"}}],
    "system":[{"type":"text","text":"be good",
      "cache_control":{"type":"ephemeral"}}],
    "messages":[]})"));
  options.tool_choice = "now";
  options.parallel_tool_calls.reset();
  options.max_output_tokens.reset();
  options.thinking_budget = 64000;
  const auto x = request_of("anthropic", options);
  CHECK(x.at("tool_choice") == json::parse(R"({"type":"tool","name":"now"})"));
  CHECK(x.at("max_tokens") > 64000);
  options.thinking_budget = 0;
  CHECK(request_of("anthropic", options).at("thinking").at("type") ==
        "disabled");
}

TEST_CASE("anthropic: an answer's form is told as the provider takes it") {
  model::request_options options;
  options.model = "m";
  options.reasoning_effort = "low";
  options.response_schema = R"({"$schema":"x","type":"object","required":["n"],
    "properties":{
      "n":{"type":"integer","minimum":1,"description":"how many"},
      "when":{"type":"string","format":"date"},
      "host":{"type":"string","format":"regex","maxLength":9},
      "list":{"type":"array","minItems":2,
        "items":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/more"}]}}},
    "$defs":{"more":{"properties":{"a":{"enum":["x",1]}},
      "additionalProperties":true}}})";
  CHECK(request_of("anthropic", options).at("output_config") == json::parse(R"({
    "effort":"low","format":{"type":"json_schema","schema":{
      "type":"object","required":["n"],"additionalProperties":false,
      "properties":{
        "n":{"type":"integer","description":"how many\n\n{\"minimum\":1}"},
        "when":{"type":"string","format":"date"},
        "host":{"type":"string",
          "description":"{\"format\":\"regex\",\"maxLength\":9}"},
        "list":{"type":"array","description":"{\"minItems\":2}",
          "items":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/more"}]}}},
      "$defs":{"more":{"properties":{"a":{"enum":["x",1]}},
        "additionalProperties":false}}}}})"));
}

TEST_CASE("anthropic: the key and the version go into headers") {
  const auto all = model::make_anthropic_dialect()->headers(" k\n");
  CHECK(std::find(all.begin(), all.end(), "x-api-key: k") != all.end());
  CHECK(std::find(all.begin(), all.end(), "anthropic-version: 2023-06-01") !=
        all.end());
}

TEST_CASE("anthropic: thoughts go back byte for byte, to who made them") {
  const auto m = read_answer("anthropic", thought + finish("tool_use"));
  CHECK(m.finish() == finish_reason::tool_calls);
  CHECK(m.reasoning() == "h\u00e9m \" \\ ");
  const auto dialect = model::make_anthropic_dialect();
  model::told_turn turn{m.text(),
                        m.reasoning(),
                        {{"toolu_1", "now", "{\"a\": 1}"}},
                        m.state(),
                        true};
  const auto text = dialect->assistant_message(turn);
  CHECK(json::parse(text) ==
        json{{"role", "assistant"},
             {"content",
              {{{"type", "thinking"},
                {"thinking", "h\u00e9m \" \\ "},
                {"signature", "c2ln/+=="}},
               {{"type", "redacted_thinking"}, {"data", "xyz"}},
               {{"type", "text"}, {"text", "look"}},
               {{"type", "tool_use"},
                {"id", "toolu_1"},
                {"name", "now"},
                {"input", {{"a", 1}}},
                {"caller", {{"type", "direct"}}}}}}});
  turn.own = false;
  CHECK(json::parse(dialect->assistant_message(turn)).at("content").size() ==
        2);
}

TEST_CASE("anthropic: text and calls alone need no state") {
  const auto plain =
      block(0, {{"type", "text"}, {"text", "a"}}, {}) +
      block(1, {{"type", "tool_use"}, {"id", "t"}, {"name", "now"}}, {});
  CHECK(read_answer("anthropic", plain + finish("tool_use")).state().empty());
  CHECK_FALSE(
      read_answer("anthropic", thought + finish("tool_use")).state().empty());
}

TEST_CASE("anthropic: what a cut turn left unfinished does not go back") {
  const auto unsigned_thought =
      block(0, {{"type", "thinking"}, {"thinking", "a"}}, {}) +
      block(1, {{"type", "server_tool_use"}, {"id", "s"}, {"name", "w"}}, {}) +
      block(2, {{"type", "text"}, {"text", "b"}}, {}) +
      block(3, {{"type", "text"}, {"text", "c"}}, {});
  const auto cut =
      read_answer("anthropic", unsigned_thought + finish("max_tokens"));
  const auto state = json::parse(cut.state());
  REQUIRE(state.size() == 2);
  CHECK(state[0].at("text") == "b");
  const auto paused =
      read_answer("anthropic", unsigned_thought + finish("pause_turn"));
  CHECK(paused.finish() == finish_reason::paused);
  CHECK(json::parse(paused.state()).at(0).at("type") == "server_tool_use");
}

TEST_CASE("anthropic: usage is cumulative, and cached tokens are input") {
  const auto m = read_answer(
      "anthropic", typed_event({{"type", "message_start"},
                                {"message",
                                 {{"id", "m"},
                                  {"usage",
                                   {{"input_tokens", 5},
                                    {"cache_creation_input_tokens", 20},
                                    {"cache_read_input_tokens", 300},
                                    {"output_tokens", 1}}}}}}) +
                       typed_event({{"type", "ping"}}) +
                       block(0, {{"type", "text"}, {"text", "hi"}}, {}) +
                       finish("end_turn"));
  CHECK(m.usage().input_tokens == 325);
  CHECK(m.usage().cached_tokens == 300);
  CHECK(m.usage().output_tokens == 9);
  CHECK(m.done());
}

TEST_CASE("anthropic: why it stopped is said in our words") {
  for (const auto& [word, meaning] : std::map<std::string, finish_reason>{
           {"end_turn", finish_reason::stop},
           {"stop_sequence", finish_reason::stop},
           {"tool_use", finish_reason::tool_calls},
           {"max_tokens", finish_reason::length},
           {"model_context_window_exceeded", finish_reason::length},
           {"refusal", finish_reason::content_filter},
           {"pause_turn", finish_reason::paused},
           {"what nobody knows", finish_reason::missing}}) {
    CAPTURE(word);
    const auto x = read_answer("anthropic", thought + finish(word));
    CHECK(x.finish().value_or(finish_reason::missing) == meaning);
  }
}

TEST_CASE("anthropic: an error in the stream, and a cut, are failures") {
  const auto m =
      read_answer("anthropic", typed_event({{"type", "error"},
                                            {"error",
                                             {{"type", "overloaded_error"},
                                              {"message", "Overloaded"}}}}));
  REQUIRE(m.failure());
  CHECK(m.failure()->retryable);
  CHECK(m.failure()->message == "Overloaded");
  const auto cut = read_answer("anthropic", thought);
  REQUIRE(cut.failure());
  CHECK(cut.failure()->code == errc::stream_interrupted);
  CHECK(cut.state().empty());
}

TEST_CASE("anthropic: a whole message is read like its stream") {
  const auto m =
      read_answer("anthropic", R"({"id":"m","type":"message","content":[
    {"type":"text","text":"a"},
    {"type":"tool_use","id":"t","name":"now","input":{"b":2}}],
    "stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}})");
  CHECK_FALSE(m.failure());
  CHECK(m.text() == "a");
  CHECK(m.finish() == finish_reason::tool_calls);
  CHECK(m.usage().output_tokens == 2);
}

TEST_CASE("anthropic: blank text and odd ids do not spoil a conversation") {
  const auto dialect = model::make_anthropic_dialect();
  CHECK(dialect->assistant_message({}).empty());
  CHECK(dialect->system_message("x").empty());
  const auto x = json::parse(dialect->assistant_message(
      {.calls = {{"functions.read:0", "read", "[]"}}}));
  const auto y = json::parse(dialect->tool_message("functions.read:0", "", ""));
  const auto id = x.at("content").at(0).at("id").get<std::string>();
  CHECK(id == y.at("tool_use_id"));
  CHECK(id.find_first_of(".:") == std::string::npos);
  CHECK(x.at("content").at(0).at("input").is_object());
}

TEST_CASE("what is said of a body that is nothing does not depend on pieces") {
  const std::string body = "{\"type\":\xff\xff \"message\", and so on}";
  for (const auto* dialect : {"openai", "anthropic", "responses", "ollama"}) {
    CAPTURE(dialect);
    const auto whole = read_answer(dialect, body, body.size());
    REQUIRE(whole.failure());
    for (std::size_t piece = 1; piece < 8; ++piece)
      CHECK(read_answer(dialect, body, piece).failure() == whole.failure());
  }
}
