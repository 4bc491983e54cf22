// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

const auto dialect = model::make_openai_dialect();

json request(const model::request_options& options,
             const std::vector<std::string>& messages) {
  auto text = dialect->request_head(options);
  for (const auto& x : messages)
    text += (&x == &messages.front() ? "" : ",") + x;
  return json::parse(text + dialect->request_tail(options));
}

}  // namespace

TEST_CASE("a request is head, messages and tail, joined") {
  model::request_options options;
  options.model = "m\"1";
  options.temperature = 0.2;
  options.tools = {{"read", "Reads\na file", R"({"type":"object"})"},
                   {"now", "", ""}};
  const auto x = request(options, {dialect->system_message("be good"),
                                   dialect->user_message("hi \"you\"\n")});
  CHECK(x == json::parse(R"({"model":"m\"1","stream":true,
          "stream_options":{"include_usage":true},"temperature":0.2,
          "tools":[
            {"type":"function","function":{"name":"read",
             "description":"Reads\na file","parameters":{"type":"object"}}},
            {"type":"function","function":{"name":"now","description":"",
             "parameters":{"type":"object","properties":{}}}}],
          "messages":[{"role":"system","content":"be good"},
                      {"role":"user","content":"hi \"you\"\n"}]})"));
}

TEST_CASE("a plain request has no tools, temperature or stream options") {
  model::request_options options;
  options.model = "m";
  options.streaming = false;
  CHECK(request(options, {}) ==
        json::parse(R"({"model":"m","stream":false,"messages":[]})"));
}

TEST_CASE("every parameter has its place in the body") {
  model::request_options options;
  options.model = "m";
  options.streaming = false;
  options.tools = {{"now", "", ""}};
  options.top_p = 0.5;
  options.max_output_tokens = 7;
  options.stop = {"a", "b"};
  options.seed = -3;
  options.reasoning_effort = "low";
  options.tool_choice = "required";
  options.parallel_tool_calls = false;
  options.response_schema = R"({"type":"object"})";
  options.extra = R"({"top_k":5,"seed":4,"response_format":{"more":1}})";
  auto x = request(options, {});
  x.erase("tools");
  CHECK(x == json::parse(R"({"model":"m","stream":false,"top_p":0.5,
      "max_tokens":7,"stop":["a","b"],"seed":4,"reasoning_effort":"low",
      "tool_choice":"required","parallel_tool_calls":false,"top_k":5,
      "response_format":{"type":"json_schema","more":1,
        "json_schema":{"name":"answer","schema":{"type":"object"}}},
      "messages":[]})"));
  options.tool_choice = "now";
  CHECK(request(options, {}).at("tool_choice") ==
        json::parse(R"({"type":"function","function":{"name":"now"}})"));
  options.tools.clear();
  CHECK_FALSE(request(options, {}).contains("tool_choice"));
  CHECK_FALSE(request(options, {}).contains("parallel_tool_calls"));
  model::quirks odd;
  odd.max_tokens_name = "max_completion_tokens";
  CHECK_THAT(model::make_openai_dialect(odd)->request_head(options),
             Catch::Matchers::Contains("\"max_completion_tokens\":7"));
  odd.seed_name = "random_seed";
  options.extra.clear();
  CHECK_THAT(model::make_openai_dialect(odd)->request_head(options),
             Catch::Matchers::Contains("\"random_seed\":-3"));
}

TEST_CASE("assistant messages carry their calls in order") {
  CHECK(json::parse(dialect->assistant_message({.text = "hi", .calls = {}})) ==
        json::parse(R"({"role":"assistant","content":"hi"})"));
  const auto x = json::parse(dialect->assistant_message(
      {.calls = {{"a", "read", R"({"path":"x"})"}, {"b", "now", " "}}}));
  CHECK(x == json::parse(R"({"role":"assistant","content":null,"tool_calls":[
    {"id":"a","type":"function",
     "function":{"name":"read","arguments":"{\"path\":\"x\"}"}},
    {"id":"b","type":"function","function":{"name":"now","arguments":"{}"}}]})"));
}

TEST_CASE("arguments that are no object go back inside one") {
  for (const char* text : {"{\"a\":", "[1]", "x \xFF"}) {
    const auto x = json::parse(
        dialect->assistant_message({.calls = {{"a", "read", text}}}));
    const auto arguments = json::parse(
        x["tool_calls"][0]["function"]["arguments"].get<std::string>());
    REQUIRE(arguments.is_object());
    CHECK(arguments.at("invalid_arguments").is_string());
  }
}

TEST_CASE("tool messages are valid whatever a tool wrote") {
  const auto x = json::parse(
      dialect->tool_message("a", "read", "\x01\xFF\xED\xA0\x80 ok"));
  CHECK(x["role"] == "tool");
  CHECK(x["tool_call_id"] == "a");
  const auto text = x["content"].get<std::string>();
  CHECK(text.front() == '\x01');
  CHECK(text.find("\xEF\xBF\xBD") == 1);
  CHECK(text.substr(text.size() - 3) == " ok");
}

TEST_CASE("the key goes into a header, trimmed, or is left out") {
  const auto has = [](std::string_view key, const std::string& header) {
    const auto all = dialect->headers(key);
    return std::find(all.begin(), all.end(), header) != all.end();
  };
  CHECK(has(" sk-1\n", "Authorization: Bearer sk-1"));
  CHECK(dialect->headers("").size() == 2);
  CHECK(dialect->headers("a\r\nX-Evil: 1").size() == 2);
  CHECK(has("", "Content-Type: application/json"));
  CHECK(dialect->path() == "/chat/completions");
}
