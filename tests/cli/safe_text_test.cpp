// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/safe_text.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;
using namespace std::string_literals;

TEST_CASE("ordinary text stays as it is") {
  CHECK(safe_text("Grüße, 世界 🎉\n\tindented\n") ==
        "Grüße, 世界 🎉\n\tindented\n");
  CHECK(safe_text("").empty());
}

TEST_CASE("controls become visible") {
  CHECK(safe_text("\x1b[31mred\x1b[0m") == "^[[31mred^[[0m");
  CHECK(safe_text("a\x07"
                  "b\x08"
                  "c\x7f"
                  "d\0e"s) == "a\\x07b\\x08c\\x7fd\\x00e");
  CHECK(safe_text("\xC2\x9B"
                  "31m") == "\\x9b31m");  // C1: CSI in one byte
  CHECK(safe_text("over\rwritten") == "over\\x0dwritten");
  CHECK(safe_text("dos\r\nline") == "dos\nline");
  CHECK(safe_text("\u202Etxt.exe") == "\\u{202e}txt.exe");
}

TEST_CASE("what is not UTF-8 is replaced") {
  CHECK(safe_text("a\xFFz") == "a\uFFFDz");
  CHECK(safe_text("\xC3") == "\uFFFD");
  CHECK(safe_text("\xE2\x82") == "\uFFFD\uFFFD");
  CHECK(safe_text("\xC0\xAF") == "\uFFFD\uFFFD");            // overlong
  CHECK(safe_text("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // surrogate
  CHECK(safe_text("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("a line is one line, and cut by characters") {
  CHECK(safe_line("  a\n\n b\tc \r\n", 100) == "a b c");
  CHECK(safe_line("äöü", 3) == "äöü");
  CHECK(safe_line("äöüß", 3) == "äöü…");
  CHECK(safe_line("ab cd", 3) == "ab…");
  CHECK(safe_line("\x1b]0;title\x07", 100) == "^[]0;title\\x07");
  CHECK(safe_line("", 5).empty());
  CHECK(safe_line("   ", 5).empty());
}

namespace {

bool is_harmless(const std::string& out) {
  for (std::size_t n = 0; n < out.size(); ++n) {
    const auto c = static_cast<unsigned char>(out[n]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) return false;
    const bool c1 = c == 0xC2 && n + 1 < out.size() &&
                    static_cast<unsigned char>(out[n + 1]) < 0xA0;
    if (c1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("no byte string brings a control through") {
  CHECK_FALSE(is_harmless("\x1b"));
  CHECK_FALSE(is_harmless("\xC2\x9B"));
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 40, ' ');
    for (auto& c : bytes) c = static_cast<char>(random());
    CHECK(is_harmless(safe_text(bytes)));
    CHECK(is_harmless(safe_line(bytes, 20)));
  }
}

TEST_CASE("a word of a command is these bytes, and harmless") {
  CHECK(shell_word("/a b/c") == "'/a b/c'");
  CHECK(shell_word("it's") == R"('it'\''s')");
  CHECK(shell_word("/日本") == "'/日本'");
  CHECK(shell_word("E\x1b[31mX'q\\") == R"($'E\x1b[31mX\'q\\')");
  CHECK(shell_word("a\u200Bb") == R"($'a\xe2\x80\x8bb')");
  CHECK(shell_word("a\nb") == R"($'a\x0ab')");
}

TEST_CASE("who decides sees what no terminal draws") {
  CHECK(exact_text("a\u200Bb\u2060c\uFEFF\u00AD") ==
        "a\\u{200b}b\\u{2060}c\\u{feff}\\u{00ad}");
  CHECK(exact_text("rm\u200D x \U000E0041") == "rm\\u{200d} x \\u{e0041}");
  CHECK(exact_text("a\uFFFC\U00013437\U00016FE4") ==
        "a\\u{fffc}\\u{13437}\\u{16fe4}");
  CHECK(exact_text("a\uFE01b\u2800\U000E0101") ==
        "a\\u{fe01}b\\u{2800}\\u{e0101}");
  CHECK(exact_text("é\u200D\u200D.md я\uFE0F") ==
        "é\\u{200d}\\u{200d}.md я\\u{fe0f}");
  CHECK(safe_text("a\u200Bb") == "a\u200Bb");
  // Joiners where they belong, and what is seen, stay.
  for (const auto* text : {"👩\u200D💻", "می\u200Cخواهم", "日本\tä\n", ""})
    CHECK(exact_text(text) == text);
  CHECK(exact_text("\x1b\xff\u202E") == safe_text("\x1b\xff\u202E"));
}
