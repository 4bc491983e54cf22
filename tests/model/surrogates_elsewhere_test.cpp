// SPDX-License-Identifier: MIT
// Halves of a character in two deltas, in every dialect but openai's.
#include <array>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/model/dialect.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;

namespace {

/// One text of one dialect: how its stream begins, a delta of it, its end.
struct told_text {
  std::string dialect;
  piece_kind kind;  ///< where the text is none of a call's arguments
  bool arguments = false;
  std::string begin;
  std::function<std::string(const std::string&)> delta;
  std::string end;
};

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

told_text claude(piece_kind kind, bool arguments, const std::string& block,
                 const std::string& type, const std::string& member) {
  return {"anthropic",
          kind,
          arguments,
          event(R"({"type":"message_start","message":{"id":"m"}})") +
              event(R"({"type":"content_block_start","index":0,)"
                    R"("content_block":)" +
                    block + "}"),
          [=](const std::string& part) {
            return event(R"({"type":"content_block_delta","index":0,"delta":)"
                         R"({"type":")" +
                         type + R"(",")" + member + R"(":")" + part + R"("}})");
          },
          event(R"({"type":"content_block_stop","index":0})") +
              event(R"({"type":"message_delta","delta":)"
                    R"({"stop_reason":"end_turn"}})") +
              event(R"({"type":"message_stop"})")};
}

told_text responses(piece_kind kind, bool arguments, const std::string& item,
                    const std::string& type) {
  return {"responses",
          kind,
          arguments,
          event(R"({"type":"response.output_item.added","output_index":0,)"
                R"("item":)" +
                item + "}"),
          [=](const std::string& part) {
            return event(R"({"type":")" + type +
                         R"(","output_index":0,"delta":")" + part + R"("})");
          },
          event(R"({"type":"response.output_item.done","output_index":0,)"
                R"("item":)" +
                item + "}") +
              event(R"({"type":"response.completed","response":)"
                    R"({"status":"completed"}})")};
}

told_text ollama(piece_kind kind, const std::string& member) {
  return {"ollama",
          kind,
          false,
          "",
          [=](const std::string& part) {
            return R"({"message":{")" + member + R"(":")" + part +
                   R"("},"done":false})"
                   "\n";
          },
          R"({"message":{"content":""},"done":true,"done_reason":"stop"})"
          "\n"};
}

std::vector<told_text> all_texts() {
  const std::string call =
      R"({"type":"function_call","call_id":"c","name":"f"})";
  return {
      claude(piece_kind::text, false, R"({"type":"text","text":""})",
             "text_delta", "text"),
      claude(piece_kind::reasoning, false,
             R"({"type":"thinking","thinking":""})", "thinking_delta",
             "thinking"),
      claude(piece_kind::text, true,
             R"({"type":"tool_use","id":"c","name":"f","input":{}})",
             "input_json_delta", "partial_json"),
      responses(piece_kind::text, false, R"({"type":"message"})",
                "response.output_text.delta"),
      responses(piece_kind::refusal, false, R"({"type":"message"})",
                "response.refusal.delta"),
      responses(piece_kind::reasoning, false, R"({"type":"reasoning"})",
                "response.reasoning_text.delta"),
      responses(piece_kind::text, true, call,
                "response.function_call_arguments.delta"),
      ollama(piece_kind::text, "content"),
      ollama(piece_kind::reasoning, "thinking"),
  };
}

std::string read(const told_text& x, const std::string& body,
                 std::size_t piece) {
  const auto decoder = model::make_dialect(x.dialect)->make_decoder();
  turn_delta all;
  for (std::size_t at = 0; at < body.size(); at += piece)
    decoder->feed(std::string_view{body}.substr(at, piece), all);
  decoder->end(all);
  CHECK_FALSE(all.failure);
  std::string out;
  if (x.arguments)
    for (const auto& fragment : all.fragments) out += fragment.arguments;
  else
    all.pieces.for_each([&](piece_kind kind, std::string_view text) {
      if (kind == x.kind) out += text;
    });
  return out;
}

struct unit {
  const char* written;
  const char* alone;
};

constexpr std::array<unit, 5> units = {{{"\\ud83d", "\xEF\xBF\xBD"},
                                        {"\\ude00", "\xEF\xBF\xBD"},
                                        {"\\uD83D", "\xEF\xBF\xBD"},
                                        {"a", "a"},
                                        {"\\u0062", "b"}}};

}  // namespace

TEST_CASE("in every dialect halves in two deltas are one character") {
  const std::string smile = "\xF0\x9F\x98\x80";
  for (const auto& x : all_texts()) {
    CAPTURE(x.dialect, x.arguments, static_cast<int>(x.kind));
    CHECK(read(x,
               x.begin + x.delta("a\\ud83d") + x.delta("\\ude00b") +
                   x.delta("c") + x.end,
               1000) == "a" + smile + "bc");
    CHECK(read(x, x.begin + x.delta("a\\ud83d") + x.end, 1000) ==
          "a\xEF\xBF\xBD");
  }
}

TEST_CASE("in every dialect any split of a text says the same") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto texts = all_texts();
  for (int round = 0; round < 2000; ++round) {
    const auto& x = texts[random() % texts.size()];
    std::string stream = x.begin;
    std::string part;
    std::string meant;
    std::size_t last = units.size();
    for (auto n = random() % 9 + 1; n > 0; --n) {
      const auto now = random() % units.size();
      part += units.at(now).written;
      if (now == 1 && (last == 0 || last == 2)) {
        meant.resize(meant.size() - 3);
        meant += "\xF0\x9F\x98\x80";
      } else {
        meant += units.at(now).alone;
      }
      last = now;
      if (random() % 2 == 0) stream += x.delta(std::exchange(part, {}));
    }
    if (!part.empty()) stream += x.delta(part);
    CAPTURE(x.dialect, x.arguments, static_cast<int>(x.kind), stream);
    REQUIRE(read(x, stream + x.end, 1 + random() % 60) == meant);
  }
}
