// SPDX-License-Identifier: MIT
// Odd streams, each made by hand.
#include "runtime/model/openai_decoder.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using model::openai_decoder;

namespace {

finish_reason finish_of(std::string_view word) {
  const auto x = read(event(R"({"choices":[{"delta":{},"finish_reason":")" +
                            std::string{word} + "\"}]}"));
  return x.finish.value_or(finish_reason::missing);
}

}  // namespace

TEST_CASE("text, a finish and the end mark make a turn") {
  const auto x = read(delta(R"({"role":"assistant","content":"Hel"})") +
                      delta(R"({"content":"lo\n\u00e9"})") + stop + done);
  CHECK(texts(x) == "Hello\n\xC3\xA9");
  CHECK(x.pieces.pieces.size() == 2);
  CHECK(x.finish == finish_reason::stop);
  CHECK(x.done);
  CHECK_FALSE(x.failure);
}

TEST_CASE("an end without an end mark is accepted after a finish") {
  const auto x = read(delta(R"({"content":"x"})") + stop + "data: {\"hal");
  CHECK_FALSE(x.failure);
  CHECK_FALSE(x.done);
  CHECK(x.finish == finish_reason::stop);
}

TEST_CASE("an end mark without a finish is a missing one") {
  const auto x = read(delta(R"({"content":"x"})") + done + stop);
  CHECK(x.finish == finish_reason::missing);
  CHECK(x.done);
  CHECK_FALSE(x.failure);
}

TEST_CASE("an end with neither is an interruption that may be retried") {
  const auto text = delta(R"({"content":"x"})");
  check_failure(read(text), errc::stream_interrupted, true, "before");
  check_failure(read(text + "data: [DONE]"), errc::stream_interrupted, true,
                "inside an event");
  check_failure(read(""), errc::stream_interrupted, true, "empty");
  check_failure(read("\n\n"), errc::stream_interrupted, true);
  check_failure(read("upstream gone"), errc::stream_interrupted, true,
                "no event stream");
  CHECK(read("upstream gone").failure->cause == "upstream gone");
}

TEST_CASE("nothing after the end mark is read") {
  const auto x =
      read(stop + done + delta(R"({"content":"GHOST"})") + event("garbage"));
  CHECK(texts(x).empty());
  CHECK_FALSE(x.failure);
}

TEST_CASE("a garbage event fails the turn and keeps its text") {
  const auto x = read(delta(R"({"content":"x"})") + event("{malformed <<<") +
                      delta(R"({"content":"y"})") + stop + done);
  check_failure(x, errc::stream_interrupted, true, "no JSON");
  CHECK(texts(x) == "x");
  for (const char* json :
       {R"({"choices":[{"delta":{"content":"x"}}])", R"({"choices":[]}})",
        R"({"choices":[{"delta":{"content":"x"}}]} tail)"}) {
    const auto broken = read(event(json) + stop + done);
    check_failure(broken, errc::stream_interrupted, true);
    CHECK(texts(broken).empty());
  }
}

TEST_CASE("JSON that is no chunk is passed over") {
  const auto x = read(
      event("[]") + event("null") + event("7") + event("\"x\"") + event("{}") +
      event(R"({"type":"ping"})") + "data:\n\n" + "event: ping\ndata: now\n\n" +
      delta("null") + event(R"({"choices":null,"usage":null})") +
      event(R"({"choices":[null,3]})") + stop + done);
  CHECK_FALSE(x.failure);
  CHECK(x.pieces.empty());
  CHECK(x.fragments.empty());
}

TEST_CASE("content may be a list of parts") {
  const auto x =
      read(delta(R"({"content":[{"type":"thinking","thinking":[{"type":"text",)"
                 R"("text":"a"}]},{"type":"thinking","thinking":"b"},)"
                 R"({"type":"text","text":"c"},{"type":"reference","ids":[1]},)"
                 R"({"type":"refusal","refusal":"d"}]})") +
           delta(R"({"content":"e"})") + stop);
  CHECK(texts(x) == "ce");
  CHECK(texts(x, piece_kind::reasoning) == "ab");
  CHECK(texts(x, piece_kind::refusal) == "d");
}

TEST_CASE("reasoning has three names, and one of them counts") {
  const auto reasoning = [](std::string_view json) {
    return texts(read(delta(json) + stop), piece_kind::reasoning);
  };
  CHECK(reasoning(R"({"reasoning_content":"a"})") == "a");
  CHECK(reasoning(R"({"reasoning":"a"})") == "a");
  CHECK(reasoning(R"({"content":"","reasoning":"a","reasoning_details":)"
                  R"([{"type":"reasoning.text","text":"a"}]})") == "a");
  CHECK(reasoning(R"({"reasoning":null,"reasoning_details":)"
                  R"([{"type":"reasoning.summary","summary":"s"},)"
                  R"({"type":"reasoning.encrypted","data":"zzz"}]})") == "s");
  CHECK(reasoning(R"({"reasoning":"a","reasoning_content":"a"})") == "a");
}

TEST_CASE("refusals are pieces of their own") {
  const auto x = read(delta(R"({"content":null,"refusal":"No."})") + stop);
  CHECK(texts(x, piece_kind::refusal) == "No.");
  CHECK(texts(x).empty());
}

TEST_CASE("a message stands in for a missing delta, never beside it") {
  const auto both = read(event(
      R"({"choices":[{"message":{"content":"m"},"delta":{"content":"d"}}]})"));
  CHECK(texts(both) == "d");
  const auto alone =
      read(event(R"({"choices":[{"delta":null,"message":{"content":"m"}}]})"));
  CHECK(texts(alone) == "m");
}

TEST_CASE("only choice 0 is read, wherever its index stands") {
  const auto x = read(
      event(R"({"choices":[{"index":1,"delta":{"content":"no"}},)"
            R"({"delta":{"content":"yes"},"index":0}]})") +
      event(
          R"({"choices":[{"delta":{"content":"no","tool_calls":)"
          R"([{"index":0,"id":"a"}]},"finish_reason":"length","index":2}]})") +
      stop);
  CHECK(texts(x) == "yes");
  CHECK(x.fragments.empty());
  CHECK(x.finish == finish_reason::stop);
}

TEST_CASE("call fragments are read as they come") {
  const auto x = read(
      delta(R"({"tool_calls":[{"index":0,"id":"a","type":"function",)"
            R"("function":{"name":"read","arguments":""}}]})") +
      delta(R"({"tool_calls":[{"index":0,"id":null,"function":)"
            R"({"name":null,"arguments":"{\"a\":1}"}},{"id":"b","function":)"
            R"({"name":"grep","arguments":{"z":1,"a":"x"}}}]})") +
      delta(R"({"tool_calls":[{"index":1,"name":"flat","arguments":null}]})") +
      delta(R"({"tool_calls":null})") + delta(R"({"tool_calls":[]})") +
      delta(R"({"function_call":{"name":"old","arguments":"{}"}})") + stop);
  const std::vector<call_fragment> expected{
      {0, 0u, "a", "read", "", false, false},
      {0, 0u, "", "", "{\"a\":1}", false, false},
      {0, {}, "b", "grep", R"({"z":1,"a":"x"})", true, false},
      {0, 1u, "", "flat", "", false, false},
      {0, 0u, "", "old", "{}", false, false},
  };
  CHECK(x.fragments == expected);
}

TEST_CASE("finish reasons are understood, and unknown ones are unsafe") {
  CHECK(finish_of("stop") == finish_reason::stop);
  CHECK(finish_of("tool_calls") == finish_reason::tool_calls);
  CHECK(finish_of("function_call") == finish_reason::tool_calls);
  CHECK(finish_of("length") == finish_reason::length);
  CHECK(finish_of("content_filter") == finish_reason::content_filter);
  CHECK(finish_of("who_knows") == finish_reason::missing);
  CHECK_FALSE(is_safe(finish_of("who_knows")));
  CHECK_FALSE(
      read(event(R"({"choices":[{"delta":{},"finish_reason":""}]})")).finish);
}

TEST_CASE("the last finish counts, but a cut turn stays cut") {
  const auto finish = [](std::string_view word) {
    return event(R"({"choices":[{"delta":{},"finish_reason":")" +
                 std::string{word} + "\"}]}");
  };
  CHECK(read(finish("stop") + finish("tool_calls")).finish ==
        finish_reason::tool_calls);
  CHECK(read(finish("stop") + finish("length")).finish ==
        finish_reason::length);
  CHECK(read(finish("length") + finish("stop")).finish ==
        finish_reason::length);
  CHECK(read(finish("what") + finish("stop")).finish == finish_reason::stop);
}

TEST_CASE("usage is read wherever it stands, the last one counts") {
  const auto usage = [](std::string_view json) {
    return read(event(json) + stop).usage;
  };
  CHECK(usage(R"({"choices":[],"usage":{"prompt_tokens":9,)"
              R"("completion_tokens":12,"cost":0.5,)"
              R"("prompt_tokens_details":{"cached_tokens":4},)"
              R"("completion_tokens_details":{"reasoning_tokens":3}}})") ==
        token_usage{9, 12, 4, 3, 0.5, false});
  CHECK(usage(R"({"usage":{"prompt_tokens":1,"completion_tokens":2}})") ==
        token_usage{1, 2, {}, {}, {}, false});
  CHECK(usage(R"({"choices":[{"delta":{},"usage":{"prompt_tokens":1}}]})") ==
        token_usage{1, 0, {}, {}, {}, false});
  CHECK(usage(R"({"choices":[],"x_groq":{"usage":{"prompt_tokens":1,)"
              R"("completion_tokens":2}}})") ==
        token_usage{1, 2, {}, {}, {}, false});
  CHECK_FALSE(usage(R"({"choices":[],"usage":{}})"));
  CHECK(usage(R"({"usage":{"prompt_tokens":1,"cost":2.4419999999999997}})") ==
        token_usage{1, 0, {}, {}, 2.442, false});
  const auto twice =
      read(event(R"({"choices":[],"usage":{"prompt_tokens":1}})") +
           event(R"({"choices":[],"usage":{"prompt_tokens":2}})") + stop);
  REQUIRE(twice.usage);
  CHECK(twice.usage->input_tokens == 2);
}

TEST_CASE("what is no Unicode becomes U+FFFD and nothing else changes") {
  const std::string no = "\xEF\xBF\xBD";
  CHECK(texts(read(delta("{\"content\":\"a\xFF\xE2\x82z\"}") + stop)) ==
        "a" + no + no + "z");
  CHECK(texts(read(delta(R"({"content":"\ud83d\u0041\\ud83d"})") + stop)) ==
        no + "A\\ud83d");
  CHECK(texts(read(delta("{\"content\":\"a\tb\x01\"}") + stop)) == "a\tb\x01");
}

TEST_CASE("chunks that fit the template of an earlier one mean what they say") {
  const auto chunk = [](std::string_view text) {
    return event(R"({"id":"c","choices":[{"index":0,"delta":{"content":")" +
                 std::string{text} + R"("},"finish_reason":null}]})");
  };
  const auto x = read(chunk("a") + chunk("b\xC3\xA9") + chunk("\\\"q\\\"") +
                      chunk("") + chunk("\xFF") + chunk("d") + stop);
  CHECK(texts(x) ==
        "ab\xC3\xA9\"q\"\xEF\xBF\xBD"
        "d");
  CHECK(x.pieces.pieces.size() == 5);
  const auto tricky = read(
      chunk("a") +
      chunk(R"("},"finish_reason":"stop"}],"x":[{"index":0,"delta":{"c":")") +
      done);
  CHECK(tricky.finish == finish_reason::stop);
  CHECK(texts(tricky) == "a");
}

TEST_CASE("escapes in a template mean what they mean elsewhere") {
  const std::string all = R"(\n\r\t\b\f\"\\\/\u0041\u00e9\u20ac\u0000)";
  const auto one = read(delta("{\"content\":\"" + all + "\"}") + stop);
  const auto two = read(delta(R"({"content":" x "})") +
                        delta("{\"content\":\"" + all + "\"}") + stop);
  CHECK(texts(two) == " x " + texts(one));
  CHECK(texts(one).size() == 15);
  for (const char* bad : {R"(\x)", R"(\u12)", R"(\)", "\x01"}) {
    const auto text = delta(std::string{"{\"content\":\""} + bad + "\"}");
    CAPTURE(text);
    const auto alone = read(text + stop);
    const auto after = read(delta(R"({"content":"x"})") + text + stop);
    CHECK(alone.failure == after.failure);
    CHECK("x" + texts(alone) == texts(after));
  }
}

TEST_CASE("call fragments fit a template of their own call only") {
  const auto part = [](int index, std::string_view text) {
    return delta(R"({"tool_calls":[{"index":)" + std::to_string(index) +
                 R"(,"function":{"arguments":")" + std::string{text} +
                 R"("}}]})");
  };
  const auto x = read(part(0, R"({\"a\":)") + part(0, R"(\"b\")") +
                      part(1, "{}") + part(1, "") + part(0, "}") +
                      delta(R"({"tool_calls":[{"index":0,"id":"x",)"
                            R"("function":{"arguments":"}"}}]})") +
                      part(0, "\xFF") + stop);
  const std::vector<call_fragment> expected{
      {0, 0u, "", "", "{\"a\":", false, false},
      {0, 0u, "", "", "\"b\"", false, false},
      {0, 1u, "", "", "{}", false, false},
      {0, 1u, "", "", "", false, false},
      {0, 0u, "", "", "}", false, false},
      {0, 0u, "x", "", "}", false, false},
      {0, 0u, "", "", "\xEF\xBF\xBD", false, false},
  };
  CHECK(x.fragments == expected);
}

TEST_CASE(
    "random chunks read the same in any pieces, with and without a template") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n}(random);
  };
  const std::vector<std::string> parts{
      delta(R"({"content":"plain"})"),
      delta(R"({"content":"other"})"),
      delta(R"({"content":"esc\n\"aped\""})"),
      delta("{\"content\":\"\xC3\xA9\xF0\x9F\x98\x80\"}"),
      delta(R"({"reasoning":"why","content":""})"),
      delta(R"({"refusal":"no"})"),
      delta(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f",)"
            R"("arguments":"{\"x\":"}}]})"),
      delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})"),
      event(R"({"choices":[{"index":1,"delta":{"content":"no"}}]})"),
      ": comment\n\n",
  };
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (auto n = upto(30); n > 0; --n) text += parts[upto(parts.size() - 1)];
    text += stop;
    const auto whole = read(text);
    REQUIRE_FALSE(whole.failure);
    openai_decoder decoder;
    turn_delta out;
    for (std::size_t at = 0; at < text.size();) {
      const auto length = 1 + upto(200);
      decoder.feed(std::string_view{text}.substr(at, length), out);
      at += length;
    }
    decoder.end(out);
    CAPTURE(round, text);
    REQUIRE(out == whole);
    // A fresh decoder for each event has no template.
    turn_delta single;
    for (std::size_t at = 0; at < text.size();) {
      const auto next = text.find("\n\n", at) + 2;
      openai_decoder{}.feed(std::string_view{text}.substr(at, next - at),
                            single);
      at = next;
    }
    REQUIRE(single.pieces == whole.pieces);
    REQUIRE(single.fragments == whole.fragments);
  }
}
