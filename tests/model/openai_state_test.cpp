// SPDX-License-Identifier: MIT
// What servers of the openai dialect want back.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

json told(const model::quirks& odd, const model::told_turn& turn) {
  return json::parse(model::make_openai_dialect(odd)->assistant_message(turn));
}

std::string chunk(const json& delta, const json& finish = nullptr) {
  return "data: " +
         json{{"choices",
               {{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}}}}
             .dump() +
         "\n\n";
}

}  // namespace

TEST_CASE("openai: unknown fields of a call go back to who sent them") {
  const json signature = {{"google", {{"thought_signature", "Ab+/=="}}}};
  const auto m = read_answer(
      "openai",
      chunk({{"tool_calls",
              {{{"index", 0},
                {"id", "a"},
                {"type", "function"},
                {"extra_content", signature},
                {"function", {{"name", "now"}, {"arguments", "{}"}}}},
               {{"index", 1},
                {"id", "b"},
                {"type", "function"},
                {"function", {{"name", "now"}, {"arguments", "{}"}}}}}}}) +
          chunk(json::object(), "tool_calls") + "data: [DONE]\n\n");
  CHECK(m.done());
  model::told_turn turn{
      "", "", {{"a", "now", "{}"}, {"b", "now", "{}"}}, m.state(), true};
  auto x = told({}, turn).at("tool_calls");
  CHECK(x[0].at("extra_content") == signature);
  CHECK_FALSE(x[1].contains("extra_content"));
  turn.own = false;
  CHECK_FALSE(told({}, turn).at("tool_calls")[0].contains("extra_content"));
  // Google's servers want one of calls that another model made, too.
  model::quirks google;
  google.returns = {"thought_signature"};
  x = told(google, turn).at("tool_calls");
  CHECK(x[0].at("extra_content").at("google").at("thought_signature") ==
        "skip_thought_signature_validator");
  CHECK_FALSE(x[1].contains("extra_content"));
}

TEST_CASE("openai: reasoning goes back where it is wanted") {
  model::told_turn turn{"a", "hm", {{"id", "now", "{}"}}, "", true};
  CHECK_FALSE(told({}, turn).contains("reasoning_content"));
  model::quirks odd;
  odd.returns = {"reasoning_content"};
  CHECK(told(odd, turn).at("reasoning_content") == "hm");
  turn.own = false;
  CHECK(told(odd, turn).at("reasoning_content") == "");
  odd.returns = {"thinking_chunks"};
  CHECK(told(odd, turn).at("content") == "a");
  turn.own = true;
  CHECK(told(odd, turn).at("content") == json::parse(R"([
    {"type":"thinking","thinking":[{"type":"text","text":"hm"}]},
    {"type":"text","text":"a"}])"));
}

TEST_CASE("openai: thinking in a content list goes back as it came") {
  const auto thinks = [](const char* text, const json& more) {
    json out = {{"type", "thinking"},
                {"thinking", {{{"type", "text"}, {"text", text}}}}};
    out.update(more);
    return out;
  };
  const auto list = [](const json& part) {
    return chunk({{"content", json::array({part})}});
  };
  const json reference = {{"type", "reference"}, {"reference_ids", {1, 2}}};
  model::quirks odd;
  odd.returns = {"thinking_chunks"};
  const auto parts = [&](const std::string& body, std::size_t piece) {
    const auto m = read_answer("openai", body, piece);
    CHECK(m.done());
    model::told_turn turn{m.text(), m.reasoning(), {}, m.state(), true};
    return told(odd, turn).at("content");
  };
  const auto text = [](const char* x) {
    return json{{"type", "text"}, {"text", x}};
  };
  const auto end = chunk(json::object(), "stop") + "data: [DONE]\n\n";
  // Texts come as strings, which are read on the fast way, and as parts.
  const auto streamed =
      list(thinks("t", json::object())) + list(thinks("1 ", json::object())) +
      list(thinks("end", {{"closed", true}, {"signature", "s+/="}})) +
      list(thinks("next", {{"closed", true}})) +
      chunk({{"content", "A\u00e4"}}) + chunk({{"content", "B"}}) +
      chunk({{"content", json::array({text("C"), thinks("t2", json::object()),
                                      reference, text("D")})}}) +
      chunk({{"content", "E"}}) + end;
  for (const std::size_t piece : {1u, 3u, 64u, 100000u})
    CHECK(parts(streamed, piece) ==
          json{thinks("t1 end", {{"closed", true}, {"signature", "s+/="}}),
               thinks("next", {{"closed", true}}), text("A\u00e4BC"),
               thinks("t2", json::object()), reference, text("DE")});
  // Of a whole message each part is one.
  const json whole{thinks("a", json::object()), thinks("b", json::object()),
                   text("A"), thinks("c", {{"closed", false}})};
  const json message = {
      {"choices",
       {{{"index", 0},
         {"message", {{"role", "assistant"}, {"content", whole}}},
         {"finish_reason", "stop"}}}}};
  CHECK(parts(message.dump(), 64) == whole);
  // Plain text has no state.
  CHECK(read_answer("openai", list(text("A")) + end).state().empty());
}

TEST_CASE("openai: halves of a character in what goes back are joined") {
  const auto part = [](const char* escaped) {
    return std::string{R"(data: {"choices":[{"index":0,"delta":{)"} +
           R"("reasoning_details":[{"type":"reasoning.text","index":0,"text":")" +
           escaped + R"("}]}}]})" + "\n\n";
  };
  const auto m = read_answer(
      "openai", part("a\\ud83d") + part("\\ude00b\\ud83d") +
                    chunk({{"content", "hi"}}, "stop") + "data: [DONE]\n\n");
  model::quirks odd;
  odd.returns = {"reasoning_details"};
  model::told_turn turn{"hi", m.reasoning(), {}, m.state(), true};
  CHECK(told(odd, turn).at("reasoning_details")[0].at("text") ==
        "a\U0001F600b\uFFFD");
}

TEST_CASE("openai: parts of reasoning details are joined and go back") {
  const auto part = [](const json& x) {
    return chunk({{"reasoning", x.value("text", "")},
                  {"reasoning_details", json::array({x})}});
  };
  const auto m = read_answer(
      "openai",
      part({{"type", "reasoning.text"}, {"index", 0}, {"text", "a"}}) +
          part({{"type", "reasoning.text"}, {"index", 0}, {"text", "b"}}) +
          part({{"type", "reasoning.text"}, {"index", 0}, {"signature", "s"}}) +
          part({{"type", "reasoning.encrypted"}, {"index", 1}, {"data", "x"}}) +
          chunk({{"content", "hi"}}, "stop") + "data: [DONE]\n\n");
  CHECK(m.reasoning() == "ab");
  model::quirks odd;
  odd.returns = {"reasoning_details"};
  model::told_turn turn{"hi", "ab", {}, m.state(), true};
  CHECK(told(odd, turn).at("reasoning_details") == json::parse(R"([
    {"type":"reasoning.text","index":0,"text":"ab","signature":"s"},
    {"type":"reasoning.encrypted","index":1,"data":"x"}])"));
  CHECK_FALSE(told({}, turn).contains("reasoning_details"));
}

TEST_CASE("openai: ids have nine letters or digits where that is a rule") {
  model::quirks odd;
  odd.call_ids = "nine";
  const auto dialect = model::make_openai_dialect(odd);
  const auto id = [&](const char* given) {
    return json::parse(dialect->tool_message(given, "", ""))
        .at("tool_call_id")
        .get<std::string>();
  };
  CHECK(id("aB3456789") == "aB3456789");
  for (const auto* given : {"call_01HX", "", "a-3456789"}) {
    CHECK(id(given).size() == 9);
    CHECK(id(given).find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(told(odd, {.calls = {{given, "now", "{}"}}})
              .at("tool_calls")[0]
              .at("id") == id(given));
  }
  CHECK(id("x") != id("y"));
}
