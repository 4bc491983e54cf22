// SPDX-License-Identifier: MIT
// Halves of a character that a server sends in two deltas.
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

const std::string no = "\xEF\xBF\xBD";
const std::string smile = "\xF0\x9F\x98\x80";

std::string says(std::string_view member, std::string_view inside) {
  return delta("{\"" + std::string{member} + "\":\"" + std::string{inside} +
               "\"}");
}

std::string calls(int index, std::string_view inside) {
  return delta(R"({"tool_calls":[{"index":)" + std::to_string(index) +
               R"(,"function":{"arguments":")" + std::string{inside} +
               "\"}}]}");
}

std::string arguments(const turn_delta& x, std::uint32_t index) {
  std::string out;
  for (const auto& fragment : x.fragments)
    if (fragment.index == index) out += fragment.arguments;
  return out;
}

/// One code unit as JSON writes it, and what it means.
struct unit {
  std::string written;
  unsigned value;
};

/// What the units say when they stand in one text: pairs are characters, what
/// stays alone is U+FFFD.
std::string meaning(const std::vector<unit>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto x = all[i].value;
    if (x < 0x80) {
      out += static_cast<char>(x);
    } else if (x == 0xD83D && i + 1 < all.size() &&
               all[i + 1].value == 0xDE00) {
      out += smile;
      ++i;
    } else {
      out += no;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("halves of a character in two deltas are one character") {
  for (const auto* member : {"content", "reasoning_content", "refusal"}) {
    CAPTURE(member);
    const auto x =
        read(says(member, "a\\ud83d") + says(member, "\\ude00b") + stop + done);
    CHECK(x.pieces.bytes == "a" + smile + "b");
  }
  const auto x = read(calls(0, "{\\\"x\\\":\\\"\\ud83d") +
                      calls(0, "\\ude00\\\"}") + stop + done);
  CHECK(arguments(x, 0) == "{\"x\":\"" + smile + "\"}");
}

TEST_CASE("a half that stays alone is one U+FFFD") {
  CHECK(texts(read(says("content", "a\\ud83d") + stop + done)) == "a" + no);
  CHECK(texts(read(says("content", "a\\ud83d") + says("content", "b") +
                   stop)) == "a" + no + "b");
  CHECK(texts(read(says("content", "\\ude00b") + stop)) == no + "b");
  CHECK(texts(read(says("content", "\\ud83d") + says("content", "\\ud83d") +
                   says("content", "\\ude00") + stop)) == no + smile);
  CHECK(texts(read(says("content", "x") + says("content", "\\ud83d") +
                   says("content", "") + says("content", "\\ude00") + stop)) ==
        "x" + smile);
  CHECK(arguments(read(calls(0, "a\\ud83d") + stop + done), 0) == "a" + no);
  // The answer was cut: what came still counts.
  CHECK(texts(read(says("content", "a\\ud83d"))) == "a" + no);
  CHECK(texts(read(says("content", "a\\ud83d") +
                   event(R"({"error":{"message":"x\ud83d"}})"))) == "a" + no);
}

TEST_CASE("halves of one text do not join those of another") {
  const auto x =
      read(says("content", "a\\ud83d") + calls(0, "b\\ud83d") +
           calls(1, "\\ude00c") + says("reasoning", "\\ude00d") +
           calls(0, "\\ude00e") + says("content", "\\ude00f") + stop);
  CHECK(texts(x) == "a" + smile + "f");
  CHECK(texts(x, piece_kind::reasoning) == no + "d");
  CHECK(arguments(x, 0) == "b" + smile + "e");
  CHECK(arguments(x, 1) == no + "c");
}

TEST_CASE("characters that stand for halves elsewhere mean themselves") {
  const std::string own = "\xF4\x8F\xA0\x80\xF4\x8F\xBF\xBD";
  CHECK(texts(read(says("content", own + "\\u0041") + stop)) == own + "A");
  CHECK(texts(read(says("content", "\xFF" + own) + stop)) == no + own);
  CHECK(texts(read(says("content", own + "\\ud83d") +
                   says("content", "\\ude00") + stop)) == own + no + no);
  CHECK(texts(read(says("content", "\\udbfe\\udc00\\ud83d") + stop)) ==
        "\xF4\x8F\xA0\x80" + no);
}

TEST_CASE("a whole answer joins what it can") {
  const auto x = read(
      R"({"choices":[{"message":{"content":"a\ud83d","tool_calls":[{"id":"c",)"
      R"("function":{"name":"f","arguments":"\ud83d\ude00\ud83d"}}]},)"
      R"("finish_reason":"stop"}]})");
  CHECK(texts(x) == "a" + no);
  CHECK(arguments(x, 0) == smile + no);
  const auto parts =
      read(R"({"choices":[{"message":{"content":[{"type":"text",)"
           R"("text":"\ud83d"},{"type":"text","text":"\ude00"}]}}]})");
  CHECK(texts(parts) == smile);
}

TEST_CASE("any split of a text over deltas says the same") {
  const auto seed = riffle::testing::fresh_seed();
  std::cout << "surrogates: seed " << seed << '\n';
  CAPTURE(seed);
  std::mt19937 random{seed};
  const std::vector<unit> kinds = {{"\\ud83d", 0xD83D}, {"\\ude00", 0xDE00},
                                   {"\\uD83D", 0xD83D}, {"\\uDE00", 0xDE00},
                                   {"a", 'a'},          {"\\u0062", 'b'}};
  for (int round = 0; round < 2000; ++round) {
    std::vector<unit> all;
    for (auto n = random() % 9; n > 0; --n) all.push_back(kinds[random() % 6]);
    const bool as_text = random() % 2 == 0;
    std::string stream;
    std::string part;
    const auto flush = [&] {
      stream += as_text ? says("content", part) : calls(3, part);
      part.clear();
    };
    for (const auto& x : all) {
      part += x.written;
      if (random() % 2 == 0) flush();
    }
    flush();
    CAPTURE(stream);
    const auto x = read(stream + stop + done, 1 + random() % 40);
    REQUIRE((as_text ? texts(x) : arguments(x, 3)) == meaning(all));
  }
}
