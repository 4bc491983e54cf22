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

TEST_CASE("of lines that are written again the last text stays") {
  CHECK(settled_lines("1%\r2%\r3%") == "3%");
  CHECK(settled_lines("1%\r2%\r\nnext\r\n\r\n") == "2%\nnext\n\n");
  CHECK(settled_lines("a\n\r100%\r") == "a\n100%");
  CHECK(settled_lines("a long one\rok\n日本語\r本\rä") == "oklong one\nä本語");
  CHECK(settled_lines("a long one\rok\x1b[K\n") == "ok\n");
  for (const auto* text : {"", "a", "a\nb\n", "\n\n"})
    CHECK(settled_lines(text) == text);
  CHECK(settled_lines("\x1b[31m1%\r\x1b[K\x1b[1;32m2%\x1b[m\n\x1b[2Ja") ==
        "2%\n\x1b[2Ja");
  CHECK(settled_lines("long one\r\x1b[2Kok\n\x1b[?25lab\x1b[2Kc\x1b]0;t\a\n") ==
        "ok\n  c\n");
}

TEST_CASE("output that comes in pieces is harmless, with its colours") {
  const std::string text =
      "1%\r2\x1b[2J\r\n\b日本\x1b[1;31mred\x1b[K\x1b[m\x1b]0;x\a\x1b[?25l"
      "\x1b]0;y\x1b\\\x1b[2K\x1b[?1049h\u200bx\x1b";
  const std::string seen =
      "1%\r2^[[2J\r\n\\x08日本\x1b[1;31mred\x1b[K\x1b[m\x1b[2K^[[?1049h"
      "\\u{200b}x^[";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    CAPTURE(size);
    safe_output x{true};
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size)
      out += x.on(std::string_view{text}.substr(at, size));
    CHECK(out + x.end() == seen + "\x1b[0m");
  }
  safe_output plain{false};
  CHECK(plain.on("a\x1b[31mb\x1b[0Kc\x1b[1Kd") + plain.end() ==
        "ab\x1b[0Kc^[[1Kd");
  // Colours hide nothing.
  safe_output hides{true};
  CHECK(hides.on("\x1b[8ma\x1b[0;8;1mb\x1b[08mc\x1b[38;5;8md\x1b[48;2;8;8;8;8me"
                 "\x1b[mf") ==
        "a\x1b[0;1mbc\x1b[38;5;8md\x1b[48;2;8;8;8me\x1b[mf");
  safe_output resets{true};
  CHECK(resets.on("\x1b[;8ma\x1b[;1mb\x1b[58;5;8;4mc\x1b[58;5;8md") ==
        "\x1b[ma\x1b[;1mb\x1b[4mcd");
  safe_output hidden{true};
  CHECK(hidden.on("\x1b]0;\u200b").empty());
  CHECK(hidden.end() == "^[]0;\\u{200b}");
  // What never ends is shown, and does not grow.
  safe_output x{true};
  CHECK(x.on("\x1b[" + std::string(100, '1')) == "^[[" + std::string(100, '1'));
  CHECK(x.on("\x1b]" + std::string(600, '1')).starts_with("^[]111"));
  CHECK(x.on("\x1b]0;a\nb") == "^[]0;a\nb");
}
