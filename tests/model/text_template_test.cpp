// SPDX-License-Identifier: MIT
// Events that are read without being parsed say what they say when parsed.
#include "runtime/model/text_template.hpp"

#include <array>
#include <functional>
#include <random>

#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

constexpr std::array<std::string_view, 2> path{"delta", "text"};

std::string read_with(model::text_template& x, std::string_view json) {
  std::string text;
  return x.read(json, text) ? "says " + text : "no";
}

/// How a dialect writes a text, with `more` members (",…" or empty).
struct wording {
  std::string dialect;
  std::string begin;
  std::function<std::string(const std::string& inside, const std::string& more,
                            int n)>
      event;
  std::string end;
};

std::string data(const std::string& json) { return "data: " + json + "\n\n"; }

const std::vector<wording>& wordings() {
  static const std::vector<wording> all{
      {"anthropic",
       data(R"({"type":"content_block_start","index":0,)"
            R"("content_block":{"type":"text","text":""}})") +
           data(R"({"type":"content_block_start","index":1,)"
                R"("content_block":{"type":"thinking","thinking":""}})") +
           data(R"({"type":"content_block_start","index":2,"content_block":)"
                R"({"type":"tool_use","id":"t","name":"f","input":{}}})"),
       [](const auto& inside, const auto& more, int n) {
         constexpr std::array kinds{"text_delta\",\"text",
                                    "thinking_delta\",\"thinking",
                                    "input_json_delta\",\"partial_json"};
         const auto kind = static_cast<std::size_t>(n / 7 % 3);
         return data(R"({"type":"content_block_delta","index":)" +
                     std::to_string(kind) + R"(,"delta":{"type":")" +
                     kinds[kind] + "\":\"" + inside + "\"}" + more + "}");
       },
       data(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})")},
      {"responses", "",
       [](const auto& inside, const auto& more, int n) {
         constexpr std::array kinds{"output_text", "refusal",
                                    "reasoning_summary_text",
                                    "function_call_arguments"};
         const auto kind = static_cast<std::size_t>(n / 7 % 4);
         return data(std::string{R"({"type":"response.)"} + kinds[kind] +
                     R"(.delta","item_id":"i)" + std::to_string(n * n) +
                     R"(","output_index":)" + std::to_string(kind) +
                     R"(,"delta":")" + inside + R"(","sequence_number":)" +
                     std::to_string(n) + R"(,"obfuscation":")" +
                     std::string(static_cast<std::size_t>(n % 5), 'x') + "\"" +
                     more + "}");
       },
       data(R"({"type":"response.completed","response":{}})")},
      {"ollama", "",
       [](const auto& inside, const auto& more, int n) {
         const bool thinks = n / 7 % 2 == 1;
         return R"({"model":"m","created_at":"2026-11-01T00:00:0)" +
                std::to_string(n % 10) +
                R"(Z","message":{"role":"assistant","content":")" +
                (thinks ? "\",\"thinking\":\"" : "") + inside +
                R"("},"done":false)" + more + "}\n";
       },
       "{\"done\":true}\n"},
  };
  return all;
}

/// The inside of a string; some of them are none.
std::string random_inside(std::mt19937& random, bool broken) {
  static const std::vector<std::string> good{
      "a",         " tok",      "\xC3\xA9",  R"(\n)",  R"(\")", R"(\\)",
      R"(\u0041)", R"(\ud83d)", R"(\ude00)", "\x01",   "\xFF",  "\xE2\x82",
      R"(\u20ac)", R"(\/)",     "{}",        R"(\\\")"};
  static const std::vector<std::string> bad{R"(\x)", "\"", R"(\u12)", "\\"};
  std::string out;
  for (auto n = random() % 4; n > 0; --n) out += good[random() % good.size()];
  if (broken) out += bad[random() % bad.size()];
  return out;
}

/// All that an answer says, in pieces of so many bytes.
std::string told(const std::string& dialect, const std::string& body,
                 std::size_t piece) {
  const auto decoder = model::make_dialect(dialect)->make_decoder();
  core::message_assembler message;
  std::string calls;
  const auto take = [&](const turn_delta& x) {
    message.add(x);
    for (const auto& f : x.fragments)
      calls += std::to_string(f.index.value_or(99)) + f.id + f.name +
               f.arguments + (f.closes ? "." : "");
  };
  for (std::size_t at = 0; at < body.size(); at += piece) {
    turn_delta x;
    decoder->feed(std::string_view{body}.substr(at, piece), x);
    take(x);
  }
  turn_delta last;
  decoder->end(last);
  take(last);
  return message.text() + "|" + message.reasoning() + "|" + message.refusal() +
         "|" + message.state() + "|" + calls + "|" +
         (message.failure() ? "failed" : "well") +
         (message.finish() ? "." : "");
}

}  // namespace

TEST_CASE("an event with the bytes of an earlier one says its string") {
  model::text_template x;
  const std::string first =
      R"({"a":1,"delta":{"type":"t","text":"one"},"sequence_number":7})";
  CHECK(read_with(x, first) == "no");
  x.learn(first, path);
  CHECK(read_with(x, first) == "says one");
  const auto with = [](const std::string& text, const std::string& number) {
    return R"({"a":1,"delta":{"type":"t","text":")" + text +
           R"("},"sequence_number":)" + number + "}";
  };
  CHECK(read_with(x, with(R"(two \"2\"\\)", "120")) == R"(says two "2"\)");
  CHECK(read_with(x, with("", "0")) == "says ");
  for (const auto& other :
       {with("a", "07"), with("a", ""), with("a", "-1"), with("a", "1.5"),
        with("a\"", "1"), with("\\", "1"), with("a\nb", "1"),
        with(R"(\ud83d)", "1"), with("\xFF", "1"), with("a", "1") + " ",
        std::string{R"({"a":2,"delta":{"type":"t","text":"one"},)"
                    R"("sequence_number":7})"},
        first.substr(0, first.size() - 1), std::string{}})
    CHECK(read_with(x, other) == "no");
}

TEST_CASE("what is odd is not learned") {
  for (const auto* odd : {R"({"delta":{"text":7}})", R"({"delta":"text"})",
                          R"({"x":1})", R"({"delta":{"text":"a","text":"b"}})",
                          R"({"delta":{"text":"a"},"delta":{"text":"b"}})",
                          R"({"delta":{"te\u0078t":"a"}})",
                          R"({"delta":{"text":"a"})", "[1]", ""}) {
    CAPTURE(odd);
    model::text_template x;
    x.learn(odd, path);
    CHECK(read_with(x, odd) == "no");
  }
}

TEST_CASE("a server whose events all differ is given up") {
  model::text_template x;
  std::string last;
  for (int i = 0; i < 40; ++i) {
    last = R"({"n":)" + std::to_string(i) + R"(,"delta":{"text":"a"}})";
    x.learn(last, path);
  }
  CHECK(read_with(x, last) == "no");
}

TEST_CASE("what is read without parsing says what parsing says") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < repetitions(60, 600, 20'000); ++round)
    for (const auto& x : wordings()) {
      auto fast = x.begin;
      auto slow = x.begin;
      const auto broken = random() % 3 == 0 ? random() % 40 : 99;
      for (unsigned n = 0; n < 40; ++n) {
        const auto inside = random_inside(random, n == broken);
        const auto number = static_cast<int>(n);
        fast += x.event(inside, "", number);
        // No two of these are alike, so none is read without parsing.
        slow += x.event(inside, ",\"z\":" + std::to_string(n), number);
      }
      CAPTURE(x.dialect, fast);
      CHECK(told(x.dialect, fast + x.end, 1 + random() % 200) ==
            told(x.dialect, slow + x.end, slow.size()));
    }
}

TEST_CASE("what the fuzzer found: a mark in two reads, a finish twice") {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string document =
      R"({"status":"completed","output":[{"type":"message",)"
      R"("content":[{"text":"a"}]}],"choices":[{"message":)"
      R"({"content":"a"},"finish_reason":"stop"}]})";
  for (const auto* dialect : {"responses", "openai"})
    for (const std::size_t piece : {1u, 2u, 5u, 999u}) {
      CAPTURE(dialect, piece);
      CHECK(read_answer(dialect, mark + document, piece).text() == "a");
    }
  const auto finish =
      data(R"({"type":"message_delta","delta":{"stop_reason":"pause_turn"}})");
  const auto twice =
      data(R"({"type":"content_block_start","index":0,"content_block":)"
           R"({"type":"server_tool_use","id":"s","name":"w","input":{}}})") +
      data(R"({"type":"content_block_stop","index":0})") + finish +
      data(R"({"type":"content_block_start","index":1,"content_block":)"
           R"({"type":"redacted_thinking","data":"x"}})") +
      data(R"({"type":"content_block_stop","index":1})") + finish +
      data(R"({"type":"content_block_delta","index":0,)"
           R"("delta":{"type":"odd"}})") +
      finish;
  CHECK(told("anthropic", twice, 1) == told("anthropic", twice, twice.size()));
}
