// SPDX-License-Identifier: MIT

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;

namespace {

std::string escaped(std::string_view text) {
  std::string result{">"};
  append_json_escaped(result, text);
  return result.substr(1);
}

// What nlohmann writes, which replaces invalid UTF-8 as the standard says.
std::string reference(const std::string& text) {
  using nlohmann::json;
  const auto quoted =
      json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

const std::string bad = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("what JSON cannot hold is escaped") {
  CHECK(escaped("") == "");
  CHECK(escaped("plain text, / and more") == "plain text, / and more");
  CHECK(escaped("say \"hi\" \\ now") == R"(say \"hi\" \\ now)");
  CHECK(escaped("\b\f\n\r\t") == R"(\b\f\n\r\t)");
  CHECK(escaped(std::string_view{"\0\x01\x1f\x20\x7f", 5}) ==
        "\\u0000\\u0001\\u001f \x7f");
  CHECK(escaped("é漢😀\u2028") == "é漢😀\u2028");
}

TEST_CASE("each byte is found at every place of a longer text") {
  for (int c = 0; c < 256; ++c) {
    for (std::size_t i = 0; i < 20; ++i) {
      std::string text(20, 'x');
      text[i] = static_cast<char>(c);
      CAPTURE(c, i);
      REQUIRE(escaped(text) == reference(text));
    }
  }
}

TEST_CASE("what is not UTF-8 becomes replacement characters") {
  CHECK(escaped("a\xFFz") == "a" + bad + "z");
  CHECK(escaped("\xC0\xAF") == bad + bad);            // overlong
  CHECK(escaped("\xE0\x80\xAF") == bad + bad + bad);  // overlong
  CHECK(escaped("\xED\xA0\x80") == bad + bad + bad);  // surrogate
  CHECK(escaped("\xF4\x90\x80\x80") == bad + bad + bad + bad);
  CHECK(escaped("\xE6\xBC") == bad);  // cut at the end
  CHECK(escaped("\xE6\xBC\"") == bad + "\\\"");
  CHECK(escaped("\xF0\x9F\x98") == bad);
  CHECK(escaped("\xF0\x9F\x98\xE6\xBC\xA2") == bad + "漢");
}

// The table "U+FFFD for non-shortest form sequences" and its neighbours in
// chapter 3 of the Unicode standard.
TEST_CASE("the standard's own examples are replaced as it says") {
  CHECK(escaped("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") ==
        bad + bad + bad + bad + bad + bad + bad + bad + "A");
  CHECK(escaped("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") ==
        bad + bad + bad + bad + "A");
}

TEST_CASE("random bytes are escaped into a text that can be read again") {
  const auto seed = testing::fresh_seed();
  riffle::testing::random_values random{seed};
  for (int i = 0; i < 20'000; ++i) {
    const auto text = random.chance(0.5) ? random.bytes(40) : random.text();
    CAPTURE(seed, i);
    const auto result = escaped(text);
    const auto back = nlohmann::json::parse("\"" + result + "\"");
    REQUIRE(escaped(back.get<std::string>()) == result);
  }
}
