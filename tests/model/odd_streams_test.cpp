// SPDX-License-Identifier: MIT
// Streams that are odd, but not broken: what they say is understood, in any
// pieces.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "tests/model/dialect_reading.hpp"
#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

/// An answer as the runtime understands it.
struct odd_reading {
  core::message_assembler message;
  core::tool_call_assembler calls;
  std::string steps;  ///< of calls: "closed now, "

  void add(const turn_delta& x) {
    message.add(x);
    for (const auto& one : x.fragments) note(calls.on_fragment(one));
  }
  void note(const std::vector<core::assembly_event>& more) {
    for (const auto& x : more)
      if (x.step != core::assembly_step::whole)
        steps += (x.step == core::assembly_step::closed ? "closed " : "not ") +
                 x.call.name + ", ";
  }
};

odd_reading read_odd(const std::string& dialect, std::string_view body,
                     std::size_t piece) {
  const auto decoder = model::make_dialect(dialect)->make_decoder();
  odd_reading out;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    turn_delta delta;
    decoder->feed(body.substr(at, piece), delta);
    out.add(delta);
  }
  turn_delta delta;
  decoder->end(delta);
  out.add(delta);
  const bool failed = out.message.failure().has_value();
  out.note(out.calls.on_turn_end(failed ? std::nullopt : out.message.finish()));
  return out;
}

using call_texts = std::vector<std::pair<std::string, std::string>>;

/// What a stream says, however it is cut.
struct odd_meaning {
  std::string text;
  std::string reasoning;
  call_texts calls;
  finish_reason finish = finish_reason::stop;
};

void check_odd(const std::string& dialect, std::string_view body,
               const odd_meaning& want) {
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 1u << 20}) {
    CAPTURE(dialect, piece);
    const auto x = read_odd(dialect, body, piece);
    CHECK_FALSE(x.message.failure());
    CHECK(x.message.text() == want.text);
    CHECK(x.message.reasoning() == want.reasoning);
    CHECK(x.message.finish() == want.finish);
    call_texts calls;
    std::string steps;
    for (const auto& one : x.calls.calls()) {
      calls.emplace_back(one.name, one.arguments);
      steps += "closed " + one.name + ", ";
    }
    CHECK(calls == want.calls);
    CHECK(x.steps == steps);
  }
}

std::string call_delta(const std::string& name, const std::string& arguments) {
  json call = {{"index", 0}, {"function", {{"arguments", arguments}}}};
  if (!name.empty()) {
    call["id"] = "call_1";
    call["function"]["name"] = name;
  }
  return delta(json{{"tool_calls", {call}}}.dump());
}

std::string finish_event(const std::string& word) {
  return event(json{
      {"choices",
       {{{"index", 0}, {"delta", json::object()}, {"finish_reason", word}}}}}
                   .dump());
}

std::string claude_block(int index, const json& begin,
                         const std::vector<json>& deltas) {
  const auto with = [&](const char* type, json more) {
    more.update({{"type", type}, {"index", index}});
    return typed_event(more);
  };
  auto out = with("content_block_start", {{"content_block", begin}});
  for (const auto& x : deltas)
    out += with("content_block_delta", {{"delta", x}});
  return out + with("content_block_stop", json::object());
}

std::string claude_answer(const std::string& blocks, const char* why) {
  return typed_event({{"type", "message_start"}, {"message", {{"id", "m"}}}}) +
         blocks +
         typed_event(
             {{"type", "message_delta"}, {"delta", {{"stop_reason", why}}}}) +
         typed_event({{"type", "message_stop"}});
}

json said_block(const char* text) { return {{"type", "text"}, {"text", text}}; }

std::string ollama_line(const json& message, const json& more = {}) {
  json out = {{"model", "m"}, {"message", message}, {"done", false}};
  if (more.is_object()) out.update(more);
  return out.dump() + "\n";
}

json ollama_call(const char* tool, const json& arguments) {
  return {{"function", {{"name", tool}, {"arguments", arguments}}}};
}

std::string ollama_end(const char* why) {
  return ollama_line({{"role", "assistant"}, {"content", ""}},
                     {{"done", true},
                      {"done_reason", why},
                      {"prompt_eval_count", 3},
                      {"eval_count", 4}});
}

}  // namespace

TEST_CASE("a finish before the last piece of a call does not cut the call") {
  const auto body = call_delta("now", "{\"a\":") + finish_event("tool_calls") +
                    call_delta("", "\"b\"") + call_delta("", "}");
  const odd_meaning want{
      "", "", {{"now", "{\"a\":\"b\"}"}}, finish_reason::tool_calls};
  check_odd("openai", body + done, want);
  check_odd("openai", body, want);
  // The whole call behind it, too.
  check_odd(
      "openai",
      finish_event("tool_calls") + call_delta("now", "{\"a\":\"b\"}") + done,
      want);
}

TEST_CASE("a role that is empty, odd or null says nothing") {
  for (const auto* role : {R"("")", R"("model")", "null"}) {
    CAPTURE(role);
    const auto with_role = [&](const std::string& more) {
      return delta(R"({"role":)" + std::string{role} + "," + more + "}");
    };
    check_odd("openai",
              with_role(R"("content":"")") + with_role(R"("content":"he")") +
                  with_role(R"("content":"llo")") + stop + done,
              {"hello", "", {}, finish_reason::stop});
    check_odd("openai",
              with_role(R"("content":null,"tool_calls":[{"index":0,"id":"a",)"
                        R"("function":{"name":"now","arguments":"{}"}}])") +
                  finish_event("tool_calls") + done,
              {"", "", {{"now", "{}"}}, finish_reason::tool_calls});
  }
}

TEST_CASE("anthropic: a block of a type that nobody knows is passed over") {
  const json odd = {{"type", "hologram"}, {"id", "h"}, {"input", {{"a", 1}}}};
  const auto blocks = [&](const std::vector<json>& deltas) {
    return claude_block(0, said_block("be"), {}) +
           claude_block(1, odd, deltas) +
           claude_block(2, {{"type", "text"}, {"text", ""}},
                        {{{"type", "text_delta"}, {"text", "fore"}}}) +
           claude_block(
               3, {{"type", "tool_use"}, {"id", "t"}, {"name", "now"}},
               {{{"type", "input_json_delta"}, {"partial_json", "{\"a\":2}"}}});
  };
  const odd_meaning want{
      "before", "", {{"now", "{\"a\":2}"}}, finish_reason::tool_calls};
  const auto goes_back = [&](const std::string& body) {
    const auto x = read_odd("anthropic", body, 7);
    return json::parse(model::make_anthropic_dialect()->assistant_message(
                           {x.message.text(),
                            "",
                            {{"t", "now", "{\"a\":2}"}},
                            x.message.state(),
                            true}))
        .at("content");
  };
  const auto whole = claude_answer(blocks({}), "tool_use");
  check_odd("anthropic", whole, want);
  // It came whole, so it goes back.
  CHECK(goes_back(whole) == json{said_block("be"),
                                 odd,
                                 said_block("fore"),
                                 {{"type", "tool_use"},
                                  {"id", "t"},
                                  {"name", "now"},
                                  {"input", {{"a", 2}}}}});
  // What its pieces make of it nobody knows: it does not go back.
  const auto in_pieces = claude_answer(
      blocks({{{"type", "light_delta"}, {"light", "x"}}}), "tool_use");
  check_odd("anthropic", in_pieces, want);
  CHECK(goes_back(in_pieces).size() == 3);
}

TEST_CASE("anthropic: pieces and the end of a block that never began") {
  const auto never = claude_block(7, said_block(""), {});
  const auto delta_at =
      typed_event({{"type", "content_block_delta"},
                   {"index", 5},
                   {"delta", {{"type", "text_delta"}, {"text", "lost"}}}});
  const auto input_at = typed_event(
      {{"type", "content_block_delta"},
       {"index", 6},
       {"delta", {{"type", "input_json_delta"}, {"partial_json", "{}"}}}});
  const auto stop_at =
      typed_event({{"type", "content_block_stop"}, {"index", 5}});
  check_odd("anthropic",
            claude_answer(delta_at + claude_block(0, said_block("hello"), {}) +
                              input_at + stop_at + never +
                              typed_event({{"type", "weather_report"}}),
                          "end_turn"),
            {"hello", "", {}, finish_reason::stop});
}

TEST_CASE("ollama: a stream is understood in any pieces") {
  const json say = {{"role", "assistant"}};
  const auto says = [&](const char* key, const char* text) {
    auto x = say;
    x["content"] = "";
    x[key] = text;
    return ollama_line(x);
  };
  const auto calls = [&](const json& all) {
    auto x = say;
    x["content"] = "";
    x["tool_calls"] = all;
    return ollama_line(x);
  };
  SECTION("a call") {
    check_odd(
        "ollama",
        says("content", "I ") + says("content", "l\u00f6\u00f6k") +
            calls(json::array({ollama_call("look", {{"a", "\u00e9 \"{"}})})) +
            ollama_end("stop"),
        {"I l\u00f6\u00f6k",
         "",
         {{"look", "{\"a\":\"\u00e9 \\\"{\"}"}},
         finish_reason::tool_calls});
  }
  SECTION("several, in one line and in others") {
    check_odd("ollama",
              calls(json::array({ollama_call("look", {{"n", 1}}),
                                 ollama_call("look", {{"n", 2}})})) +
                  calls(json::array({ollama_call("find", json::object())})) +
                  ollama_end("stop"),
              {"",
               "",
               {{"look", "{\"n\":1}"}, {"look", "{\"n\":2}"}, {"find", "{}"}},
               finish_reason::tool_calls});
  }
  SECTION("with thoughts") {
    check_odd("ollama",
              says("thinking", "h") + says("thinking", "m\u2026") +
                  says("content", "so") +
                  calls(json::array({ollama_call("look", {{"n", 1}})})) +
                  says("thinking", "!") + ollama_end("stop"),
              {"so",
               "h"
               "m\u2026"
               "!",
               {{"look", "{\"n\":1}"}},
               finish_reason::tool_calls});
  }
  SECTION("with CRLF, blank lines, and no line end at the end") {
    auto end = ollama_end("length");
    end.pop_back();
    check_odd("ollama",
              "\xEF\xBB\xBF" + says("content", "a") + "\r\n\r\n" +
                  says("content", "b") + "\n" + end,
              {"ab", "", {}, finish_reason::length});
  }
}
