// SPDX-License-Identifier: MIT
// Arguments with a key twice: nothing runs with one value and is told with
// the other. Arguments that are no object: the model reads what it sent.
#include <string>
#include <vector>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

const std::string twice = R"({"n":1,"n":2})";

std::string named_event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

/// One call of `act` with these arguments, as text; then the end.
std::vector<std::string> answers_of(const std::string& dialect,
                                    const std::string& sent) {
  const json called = {{"type", "function_call"},
                       {"call_id", "c1"},
                       {"name", "act"},
                       {"arguments", sent}};
  const json said = {
      {"type", "message"},
      {"content", {{{"type", "output_text"}, {"text", "done"}}}}};
  const auto item = [](int index, const json& x) {
    return named_event({{"type", "response.output_item.done"},
                        {"output_index", index},
                        {"item", x}});
  };
  const auto over = named_event({{"type", "response.completed"},
                                 {"response", {{"status", "completed"}}}});
  if (dialect == "responses")
    return {item(0, called) + over, item(0, said) + over};
  const auto claude = [](const json& block, const std::string& input,
                         const char* why) {
    auto out =
        named_event({{"type", "message_start"}, {"message", {{"id", "m"}}}}) +
        named_event({{"type", "content_block_start"},
                     {"index", 0},
                     {"content_block", block}});
    if (!input.empty())
      out += named_event(
          {{"type", "content_block_delta"},
           {"index", 0},
           {"delta", {{"type", "input_json_delta"}, {"partial_json", input}}}});
    return out + named_event({{"type", "content_block_stop"}, {"index", 0}}) +
           named_event(
               {{"type", "message_delta"}, {"delta", {{"stop_reason", why}}}}) +
           named_event({{"type", "message_stop"}});
  };
  if (dialect == "anthropic")
    return {claude({{"type", "tool_use"}, {"id", "c1"}, {"name", "act"}}, sent,
                   "tool_use"),
            claude({{"type", "text"}, {"text", "done"}}, {}, "end_turn")};
  const json chunk = {
      {"choices",
       {{{"index", 0},
         {"delta",
          {{"tool_calls",
            {{{"index", 0},
              {"id", "c1"},
              {"function", {{"name", "act"}, {"arguments", sent}}}}}}}}}}}};
  return {"data: " + chunk.dump() + "\n\n" + model_stops("tool_calls"),
          model_says("done") + model_stops("stop")};
}

void run_with(actor_fixture& x, const std::string& dialect,
              std::vector<std::string> answers) {
  x.begin();
  x.provider->answers = std::move(answers);
  auto spec = x.make_spec();
  spec->dialect = model::make_dialect(dialect);
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  REQUIRE(x.provider->requests.size() == 2);
}

/// Of the only call in a request.
json arguments_told(const std::string& dialect, const std::string& body) {
  const auto x = json::parse(body);
  if (dialect == "responses")
    return json::parse(x.at("input").at(1).at("arguments").get<std::string>());
  const auto& message = x.at("messages").at(1);
  if (dialect == "anthropic") return message.at("content").at(0).at("input");
  return json::parse(message.at("tool_calls")
                         .at(0)
                         .at("function")
                         .at("arguments")
                         .get<std::string>());
}

}  // namespace

TEST_CASE("a call whose arguments have a key twice is refused, not guessed") {
  for (const auto* dialect : {"openai", "anthropic", "responses"}) {
    INFO(dialect);
    actor_fixture x;
    run_with(x, dialect, answers_of(dialect, twice));
    CHECK(x.act->acted.empty());
    const auto& told = x.provider->requests.back();
    CHECK(told.find("stands twice in one object") != std::string::npos);
    CHECK(arguments_told(dialect, told) == json{{"invalid_arguments", twice}});
  }
}

TEST_CASE("of a key that stands twice the last counts, where objects come") {
  // Of arguments that are an object the parser keeps one value: the same one
  // runs, is told to readers, and goes back.
  const auto call = [](const std::string& arguments) {
    return R"({"function":{"name":"act","arguments":)" + arguments + "}}";
  };
  actor_fixture x;
  run_with(x, "ollama",
           {R"({"message":{"content":"","tool_calls":[)" + call(twice) +
                "]},\"done\":true,\"done_reason\":\"stop\"}\n",
            "{\"message\":{\"content\":\"done\"},\"done\":true,"
            "\"done_reason\":\"stop\"}\n"});
  CHECK(x.act->arguments == std::vector<std::string>{R"({"n":2})"});
  CHECK(events_of(x.reader->lines, "tool_call")
            .at(0)
            .at("data")
            .at("arguments") == json{{"n", 2}});
  const auto& told = x.provider->requests.back();
  CHECK(told.find(call(R"({"n":2})")) != std::string::npos);
  CHECK(told.find("\"n\":1") == std::string::npos);
}

TEST_CASE("the model reads the arguments that it sent, also those of no use") {
  const std::string deep(300, '[');
  const std::string control = "{\"n\":\"a\x01\"}";
  for (const auto* dialect : {"openai", "anthropic", "responses"})
    for (const std::string& sent :
         {std::string{R"({"n":1,})"}, std::string{"[1]"},
          std::string{R"(say "h\u00e9")"}, "{\"n\":" + deep, control}) {
      CAPTURE(dialect, sent);
      actor_fixture x;
      run_with(x, dialect, answers_of(dialect, sent));
      CHECK(x.act->acted.empty());
      CHECK(arguments_told(dialect, x.provider->requests.back()) ==
            json{{"invalid_arguments", sent}});
    }
}
