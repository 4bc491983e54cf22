// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/text_width.hpp"

#include <random>
#include <vector>

#include "runtime/cli/terminal/safe_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;

TEST_CASE("a text takes as many columns as a terminal needs at most") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("abc def") == 7);
  CHECK(columns_of("äöü") == 3);
  CHECK(columns_of("a\u0308") == 1);  // a, combining diaeresis
  CHECK(columns_of("日本語") == 6);   // East Asian wide
  CHECK(columns_of("ｱｲｳ") == 3);      // halfwidth katakana
  CHECK(columns_of("한국") == 4);
  CHECK(columns_of("👍") == 2);
  CHECK(columns_of("👍🏽") == 4);  // with a skin tone: if not joined
  CHECK(columns_of("👩‍👩‍👧") == 6);  // a family: if not joined
  CHECK(columns_of("🇩🇪") >= 2);                  // a flag
  CHECK(columns_of("❤") == 1);
  CHECK(columns_of("❤\uFE0F") == 2);   // shown as a picture
  CHECK(columns_of("a\u200Bb") == 2);  // zero width space
  CHECK(columns_of("\xFF") == 1);      // not UTF-8: a replacement
  CHECK(columns_of("…—→✗⠙│") == 6);
}

TEST_CASE("a text is cut between what people see as characters") {
  CHECK(fit("abcdef", 6) == "abcdef");
  CHECK(fit("abcdef", 5) == "abcd…");
  CHECK(fit("abcdef", 1) == "…");
  CHECK(fit("abcdef", 0).empty());
  CHECK(fit("日本語", 6) == "日本語");
  CHECK(fit("日本語", 5) == "日本…");
  CHECK(fit("日本語", 4) == "日…");
  CHECK(fit("日本語", 1) == "…");
  CHECK(fit("na\u0308her", 3) == "na\u0308…");
  CHECK(fit("👩‍👩‍👧!", 6) == "…");
  CHECK(fit("👩‍👩‍👧!", 7) == "👩‍👩‍👧!");
}

TEST_CASE("what was cut never takes more columns than there are") {
  const std::vector<std::string> parts = {"a",    "日", "👍",     "\u0308",
                                          "🇩",    "é",  "\u200D", "❤\uFE0F",
                                          "\xC3", "한", " ",      "🏽"};
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto n = random() % 30; n > 0; --n) {
      text += parts[random() % parts.size()];
    }
    const std::size_t columns = random() % 40;
    const auto cut = fit(safe_line(text, 1000), columns);
    CAPTURE(text, columns, cut);
    REQUIRE(columns_of(cut) <= columns);
  }
}
