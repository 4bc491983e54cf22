// SPDX-License-Identifier: MIT
// OpenAI's responses and Ollama's own interface.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

// -- responses ----------------------------------------------------------------

TEST_CASE("responses: every parameter has its place in the body") {
  auto options = all_options();
  options.reasoning_effort = "low";
  options.tool_choice = "now";
  options.parallel_tool_calls = true;
  options.response_schema = R"({"type":"object"})";
  options.tools.pop_back();
  CHECK(request_of("responses", options) ==
        json::parse(R"({"model":"m","stream":true,"store":false,"more":1,
    "include":["reasoning.encrypted_content"],"temperature":0.5,"top_p":0.25,
    "max_output_tokens":7,"reasoning":{"effort":"low","summary":"auto"},
    "tool_choice":{"type":"function","name":"now"},"parallel_tool_calls":true,
    "text":{"format":{"type":"json_schema","name":"answer",
      "schema":{"type":"object"}}},
    "instructions":"be good",
    "tools":[{"type":"function","name":"now","description":"time",
      "strict":false,"parameters":{"type":"object","properties":{"a":{}}}}],
    "input":[]})"));
  options.model = "gpt-4.1-mini";
  const auto plain = request_of("responses", options);
  CHECK_FALSE(plain.contains("include"));
  CHECK(plain.at("reasoning") == json{{"effort", "low"}});
}

TEST_CASE("responses: free text for a custom tool is a call that is refused") {
  const json begun = {{"type", "custom_tool_call"},
                      {"call_id", "call_1"},
                      {"name", "now"},
                      {"input", ""}};
  // Also where the text happens to be a JSON object.
  auto done = begun;
  done["input"] = "{\"a\":1}";
  const auto decoder = model::make_dialect("responses")->make_decoder();
  turn_delta m;
  decoder->feed(
      typed_event({{"type", "response.output_item.added"},
                   {"output_index", 0},
                   {"item", begun}}) +
          typed_event({{"type", "response.custom_tool_call_input.delta"},
                       {"output_index", 0},
                       {"delta", "{\"a\":"}}) +
          typed_event({{"type", "response.custom_tool_call_input.done"},
                       {"output_index", 0},
                       {"input", "{\"a\":1}"}}) +
          typed_event({{"type", "response.output_item.done"},
                       {"output_index", 0},
                       {"item", done}}) +
          typed_event({{"type", "response.completed"},
                       {"response", {{"status", "completed"}}}}),
      m);
  decoder->end(m);
  CHECK_FALSE(m.failure);
  CHECK(m.finish == finish_reason::tool_calls);
  REQUIRE(m.fragments.size() == 2);
  CHECK(m.fragments[0].id == "call_1");
  CHECK(m.fragments[0].name == "now");
  CHECK(m.fragments[1].arguments == "free text: {\"a\":1}");
  CHECK(m.fragments[1].closes);
}

TEST_CASE("responses: encrypted thoughts go back before their calls") {
  const json thoughts = {{"type", "reasoning"},
                         {"id", "rs_1"},
                         {"summary", json::array()},
                         {"encrypted_content", "gAAA=="}};
  const json call = {{"type", "function_call"},
                     {"id", "fc_1"},
                     {"call_id", "call_1"},
                     {"name", "now"},
                     {"arguments", "{\"a\":1}"}};
  auto begun = call;
  begun["arguments"] = "";
  const auto item = [](const char* type, int index, const json& x) {
    return typed_event({{"type", type}, {"output_index", index}, {"item", x}});
  };
  const auto m = read_answer(
      "responses",
      item("response.output_item.added", 0, {{"type", "reasoning"}}) +
          item("response.output_item.done", 0, thoughts) +
          item("response.output_item.added", 1, begun) +
          typed_event({{"type", "response.function_call_arguments.done"},
                       {"output_index", 1},
                       {"arguments", "{\"a\":1}"}}) +
          item("response.output_item.done", 1, call) +
          typed_event({{"type", "response.completed"},
                       {"response", {{"status", "completed"}}}}));
  CHECK(m.finish() == finish_reason::tool_calls);
  model::told_turn turn{
      "", "", {{"call_1", "now", "{\"a\":1}"}}, m.state(), true};
  const auto dialect = model::make_responses_dialect();
  const auto own = json::parse("[" + dialect->assistant_message(turn) + "]");
  CHECK(own == json{thoughts,
                    {{"type", "function_call"},
                     {"call_id", "call_1"},
                     {"name", "now"},
                     {"arguments", "{\"a\":1}"}}});
  turn.own = false;
  CHECK(json::parse("[" + dialect->assistant_message(turn) + "]").size() == 1);
}

TEST_CASE("responses: raw thoughts are told, and do not go back") {
  const json part = {{"type", "reasoning_text"}, {"text", "I add."}};
  const json thoughts = {{"type", "reasoning"},
                         {"summary", json::array()},
                         {"content", json::array({part})}};
  const auto item = [](const char* type, const json& x) {
    return typed_event({{"type", type}, {"output_index", 0}, {"item", x}});
  };
  std::string streamed;
  for (const auto* text : {"I ", "add."})
    streamed += typed_event({{"type", "response.reasoning_text.delta"},
                             {"output_index", 0},
                             {"content_index", 0},
                             {"delta", text}});
  for (const auto& told : {streamed, std::string{}}) {
    const auto m = read_answer(
        "responses",
        item("response.output_item.added", {{"type", "reasoning"}}) + told +
            item("response.output_item.done", thoughts) +
            typed_event({{"type", "response.completed"},
                         {"response", {{"status", "completed"}}}}));
    CHECK(m.reasoning() == "I add.");
    CHECK(m.state().empty());
  }
}

TEST_CASE("responses: unknown fields of a call go back to who sent them") {
  const auto call = [](const char* id, const json& more) {
    json out = {{"type", "function_call"}, {"id", "fc_1"},
                {"call_id", id},           {"name", "now"},
                {"arguments", "{}"},       {"status", "completed"}};
    out.update(more);
    return out;
  };
  const json more = {{"namespace", "n"}, {"later", {{"x", 1}}}};
  // With what comes at its beginning or at its end alone, too.
  const auto m = read_answer(
      "responses",
      typed_event({{"type", "response.output_item.done"},
                   {"output_index", 0},
                   {"item", call("a", {{"none", nullptr}})}}) +
          typed_event({{"type", "response.output_item.added"},
                       {"output_index", 1},
                       {"item", call("b", {{"namespace", "n"}})}}) +
          typed_event({{"type", "response.function_call_arguments.done"},
                       {"output_index", 1},
                       {"arguments", "{}"}}) +
          typed_event({{"type", "response.output_item.done"},
                       {"output_index", 1},
                       {"item", call("b", {{"later", {{"x", 1}}}})}}) +
          typed_event({{"type", "response.completed"},
                       {"response", {{"status", "completed"}}}}));
  model::told_turn turn{
      "", "", {{"a", "now", "{}"}, {"b", "now", "{}"}}, m.state(), true};
  const auto dialect = model::make_responses_dialect();
  auto told = json::parse("[" + dialect->assistant_message(turn) + "]");
  json want = {{"type", "function_call"},
               {"call_id", "a"},
               {"name", "now"},
               {"arguments", "{}"}};
  REQUIRE(told.size() == 2);
  CHECK(told[0] == want);
  want["call_id"] = "b";
  auto with_more = want;
  with_more.update(more);
  CHECK(told[1] == with_more);
  turn.own = false;
  told = json::parse("[" + dialect->assistant_message(turn) + "]");
  CHECK(told[1] == want);
}

TEST_CASE("responses: an answer that comes with its end alone is read") {
  const auto end = typed_event(
      {{"type", "response.completed"},
       {"response",
        {{"status", "completed"},
         {"output",
          {{{"type", "message"},
            {"content", {{{"type", "output_text"}, {"text", "HELLO"}}}}}}},
         {"usage", {{"input_tokens", 3}, {"output_tokens", 1}}}}}});
  const auto x = read_answer("responses", end);
  CHECK(x.text() == "HELLO");
  CHECK(x.usage().input_tokens == 3);
}

TEST_CASE("responses: failed and incomplete are told apart") {
  const auto end = [](const char* type, const json& response) {
    return read_answer("responses",
                       typed_event({{"type", type}, {"response", response}}));
  };
  const auto failed =
      end("response.failed",
          {{"status", "failed"},
           {"error", {{"code", "server_error"}, {"message", "oh"}}}});
  REQUIRE(failed.failure());
  CHECK(failed.failure()->message == "oh");
  CHECK(failed.failure()->cause == "(server_error)");
  CHECK(failed.failure()->retryable);
  CHECK(end("response.incomplete",
            {{"status", "incomplete"},
             {"incomplete_details", {{"reason", "max_output_tokens"}}}})
            .finish() == finish_reason::length);
  CHECK(end("response.incomplete",
            {{"status", "incomplete"},
             {"incomplete_details", {{"reason", "content_filter"}}}})
            .finish() == finish_reason::content_filter);
}

TEST_CASE("responses: a call that was cut is not complete") {
  const auto closes = [](const json& done) {
    const auto decoder = model::make_responses_dialect()->make_decoder();
    turn_delta out;
    const json begun = {{"type", "function_call"},
                        {"call_id", "call_1"},
                        {"name", "now"},
                        {"arguments", ""}};
    decoder->feed(
        typed_event({{"type", "response.output_item.added"},
                     {"output_index", 0},
                     {"item", begun}}) +
            typed_event({{"type", "response.function_call_arguments.delta"},
                         {"output_index", 0},
                         {"delta", "{}"}}) +
            typed_event(done),
        out);
    const bool closed =
        std::ranges::any_of(out.fragments, &call_fragment::closes);
    return std::pair{closed, out.failure.has_value()};
  };
  const auto item = [](const char* status, const char* arguments) {
    return json{{"type", "response.output_item.done"},
                {"output_index", 0},
                {"item",
                 {{"type", "function_call"},
                  {"call_id", "call_1"},
                  {"name", "now"},
                  {"status", status},
                  {"arguments", arguments}}}};
  };
  CHECK(closes(item("completed", "{}")) == std::pair{true, false});
  CHECK(closes(item("incomplete", "{}")) == std::pair{false, false});
  // It may not act on what was not streamed.
  CHECK(closes(item("completed", "[1]")) == std::pair{false, true});
  CHECK(closes({{"type", "response.function_call_arguments.done"},
                {"output_index", 0},
                {"arguments", "{\"a\":1}"}}) == std::pair{false, true});
}

// -- ollama -------------------------------------------------------------------

TEST_CASE("ollama: every parameter has its place in the body") {
  auto options = all_options();
  options.stop = {"x"};
  options.seed = 3;
  options.keep_alive = "10m";
  options.reasoning_effort = "low";
  options.response_schema = R"({"type":"object"})";
  options.tools.pop_back();
  const auto want = json::parse(R"({"model":"m","stream":true,"more":1,
    "options":{"temperature":0.5,"top_p":0.25,"num_predict":7,
      "stop":["x"],"seed":3},"keep_alive":"10m","think":"low",
      "format":{"type":"object"},
    "tools":[{"type":"function","function":{"name":"now","description":"time",
      "parameters":{"type":"object","properties":{"a":{}}}}}],"messages":[]})");
  CHECK(request_of("ollama", options) == want);
  options.context_window = 9;
  CHECK(request_of("ollama", options).at("options").at("num_ctx") == 9);
  options.keep_alive = "-1";  // seconds; a text of them has no unit
  CHECK(request_of("ollama", options).at("keep_alive") == -1);
  for (const auto* other : {"openai", "anthropic", "responses"})
    CHECK_FALSE(model::can_express(other, "keep_alive"));
}

TEST_CASE("ollama: calls come whole, and go back as objects") {
  const auto m =
      read_answer("ollama", R"({"message":{"thinking":"hm"},"done":false}
{"message":{"content":"a","tool_calls":[{"function":{"name":"now","arguments":{"a":1}}}]}}
{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4})");
  CHECK(m.finish() == finish_reason::tool_calls);
  CHECK(m.reasoning() == "hm");
  CHECK(m.usage().input_tokens == 3);
  CHECK(m.usage().output_tokens == 4);
  const auto dialect = model::make_ollama_dialect();
  model::told_turn turn{"a", "hm", {{"id", "now", "{\"a\":1}"}}, "", true};
  CHECK(json::parse(dialect->assistant_message(turn)) ==
        json::parse(R"({"role":"assistant","content":"a","thinking":"hm",
    "tool_calls":[{"function":{"name":"now","arguments":{"a":1}}}]})"));
  turn.own = false;
  CHECK_FALSE(
      json::parse(dialect->assistant_message(turn)).contains("thinking"));
  CHECK(json::parse(dialect->tool_message("id", "now", "x")) ==
        json::parse(R"({"role":"tool","tool_name":"now","content":"x"})"));
}

TEST_CASE("ollama: unknown fields of a call go back to who sent them") {
  const json sent = json::parse(R"([
    {"id":"call_1","later":{"x":1},
     "function":{"index":0,"name":"now","arguments":{},"more":[1]}},
    {"function":{"name":"now","arguments":{"a":1}}}])");
  const auto m = read_answer(
      "ollama", json{{"message", {{"content", ""}, {"tool_calls", sent}}},
                     {"done", true},
                     {"done_reason", "stop"}}
                    .dump());
  model::told_turn turn{"",
                        "",
                        {{"call_1", "now", "{}"}, {"made", "now", "{\"a\":1}"}},
                        m.state(),
                        true};
  const auto dialect = model::make_ollama_dialect();
  const auto told = [&] {
    return json::parse(dialect->assistant_message(turn)).at("tool_calls");
  };
  CHECK(told() == sent);
  turn.own = false;
  CHECK(told() == json::parse(R"([
    {"function":{"name":"now","arguments":{}}},
    {"function":{"name":"now","arguments":{"a":1}}}])"));
}

TEST_CASE("ollama: an error in the middle, and a cut, are failures") {
  const auto m = read_answer("ollama",
                             "{\"message\":{\"content\":\"a\"}}\n"
                             "{\"error\":\"it broke\"}\n");
  REQUIRE(m.failure());
  CHECK(m.failure()->message == "it broke");
  const auto cut = read_answer("ollama", "{\"message\":{\"content\":\"a\"}}\n");
  REQUIRE(cut.failure());
  CHECK(cut.failure()->code == errc::stream_interrupted);
  CHECK(read_answer("ollama", "{oh}\n").failure());
}
