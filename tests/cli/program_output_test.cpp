// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/program_output.hpp"

#include <array>
#include <random>
#include <utility>
#include <vector>

#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;
using namespace std::string_literals;

TEST_CASE("of lines that are written again the last text stays") {
  CHECK(settled_lines("1%\r2%\r3%") == "3%");
  CHECK(settled_lines("1%\r2%\r\nnext\r\n\r\n") == "2%\nnext\n\n");
  CHECK(settled_lines("a\n\r100%\r") == "a\n100%");
  CHECK(settled_lines("a long one\rok\n日本語\r本\rä") == "oklong one\nä 本語");
  CHECK(settled_lines("a long one\rok\x1b[K\n") == "ok\n");
  for (const auto* text : {"", "a", "a\nb\n", "\n\n"})
    CHECK(settled_lines(text) == text);
  CHECK(settled_lines("\x1b[31m1%\r\x1b[K\x1b[1;32m2%\x1b[m\n\x1b[2Ja") ==
        "2%\n\x1b[2Ja");
  // The model reads what a tool wrote: a title is shown, spelled.
  for (const auto* text : {"a\x1b]0;t\ab\n", "\x1b]8;;u\x1b\\l\r\n"})
    CHECK(safe_text(settled_lines(text)) == safe_text(text));
  CHECK(settled_lines("long one\r\x1b[2Kok\n\x1b[?25lab\x1b[2Kc\n") ==
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

namespace {

/// What is shown of a text that comes in pieces of so many bytes.
std::string in_pieces(std::string_view text, std::size_t size) {
  safe_output x{true};
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size)
    out += x.on(text.substr(at, size));
  return out + x.end();
}

/// A terminal of one width, as plain as can be: rows of cells, "" behind a wide
/// character, "_" where nothing has been written.
class little_terminal {
 public:
  explicit little_terminal(std::size_t columns) : columns_{columns} {}

  /// Its lines, without blanks at their ends: rows that were wrapped are one.
  std::string lines_of(std::string_view bytes) {
    while (!bytes.empty()) bytes.remove_prefix(feed(bytes));
    std::string out;
    std::string line;
    for (const auto& x : rows_) {
      auto last = columns_;
      while (last > 0 && x.cells[last - 1] == "_") --last;
      for (std::size_t k = 0; k < last; ++k)
        line += x.cells[k] == "_" ? " " : x.cells[k];
      if (x.wrapped) continue;
      line.erase(line.find_last_not_of(' ') + 1);
      out += std::exchange(line, {}) + "\n";
    }
    return out;
  }

 private:
  struct row {
    std::vector<std::string> cells;
    bool wrapped = false;
  };

  std::vector<std::string>& cells() { return rows_.back().cells; }
  void new_row() {
    rows_.push_back({std::vector<std::string>(columns_, "_")});
    column_ = 0;
  }
  void blank(std::size_t at) {
    if (cells()[at].empty()) cells()[at - 1] = " ";
    if (at + 1 < columns_ && cells()[at + 1].empty()) cells()[at + 1] = " ";
    cells()[at] = " ";
  }
  std::size_t feed(std::string_view x) {
    if (x[0] == '\n') return new_row(), 1;
    if (x[0] == '\r') return column_ = 0, 1;
    if (x[0] == '\t') {
      do ++column_;
      while (column_ % 8 != 0);
      column_ = std::min(column_, columns_ - 1);
      return 1;
    }
    if (x[0] == '\x1b') {
      const auto size = x.find_first_of("Km") + 1;
      REQUIRE(size > 0);
      if (x[size - 1] == 'm') return size;
      const bool all = x.substr(0, size) == "\x1b[2K";
      // Behind a full row the rest of it is nothing, as in tmux.
      if (all) column_ = std::min(column_, columns_ - 1);
      for (auto i = all ? 0 : column_; i < columns_; ++i) {
        blank(i);
        cells()[i] = "_";
      }
      return size;
    }
    std::size_t size = 1;
    while (size < x.size() && (x[size] & 0xC0) == 0x80) ++size;
    put(x.substr(0, size));
    return size;
  }
  void put(std::string_view character) {
    if (character == "\u0301" || character == "\u200D") {
      if (column_ == 0) return;
      auto& cell = cells()[column_ - 1];
      if (cell == "_") cell = " ";
      (cell.empty() ? cells()[column_ - 2] : cell) += character;
      return;
    }
    const std::size_t width = character == "宽" || character == "🎉" ? 2 : 1;
    if (column_ + width > columns_) {
      rows_.back().wrapped = true;
      for (std::size_t i = 0; i < column_; ++i)
        if (cells()[i] == "_") cells()[i] = " ";
      new_row();
    }
    for (auto i = column_; i < column_ + width; ++i) blank(i);
    cells()[column_] = character;
    if (width == 2) cells()[column_ + 1].clear();
    column_ += width;
  }

  std::size_t columns_;
  std::size_t column_ = 0;
  std::vector<row> rows_{{std::vector<std::string>(columns_, "_")}};
};

std::string without_end_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

TEST_CASE("what nobody sees of an output is spelled, and blanks are blanks") {
  for (const char32_t code :
       {0xAD,   0x34F,   0x115F,  0x17B4,  0x180B,  0x180E,  0x200B, 0x2028,
        0x2060, 0x206A,  0x3164,  0xFE00,  0xFE0E,  0xFEFF,  0xFFA0, 0xFFF9,
        0xFFFC, 0x13431, 0x16FE4, 0x1BCA0, 0x1BCA1, 0x1D173, 0xE0041}) {
    std::string character;
    std::string seen;
    riffle::append_utf8(character, code);
    append_code(seen, code);
    CAPTURE(seen);
    CHECK(in_pieces("日" + character + "b", 1) == "日" + seen + "b");
  }
  const auto blanks = "a\u00A0\u2000\u200A\u202F\u205F\u2800\u3000b"s;
  CHECK(in_pieces(blanks, 1) == blanks);
  // Joiners hide behind letters, and where nothing stands before them.
  CHECK(in_pieces("a\u200Cb\u200Dc\uFE0Fé\u200D\u200D", 1) ==
        "a\\u{200c}b\\u{200d}c\\u{fe0f}é\\u{200d}\\u{200d}");
  CHECK(in_pieces("👩\r\u200D👩\n\u200D👩\x1b[K\u200D", 1) ==
        "👩\r\\u{200d}👩\n\\u{200d}👩\x1b[K\\u{200d}");
}

TEST_CASE("pictures and scripts with joiners come out whole, cut anywhere") {
  const auto text =
      "👨\u200D👩\u200D👧 ❤\uFE0F\u200D🔥 می\u200Cخواهم 👩\x1b[1m\u200D💻"s;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    CAPTURE(size);
    CHECK(in_pieces(text, size) == text + "\x1b[0m");
  }
}

TEST_CASE("the model reads what a person saw in the end") {
  const std::string row(110, 'A');
  CHECK(without_end_blanks(seen_lines(
            row + "HIDE-INJECTED-TEXT\r" + std::string(30, ' '), 110)) == row);
  CHECK(seen_lines("AAAAHide\r宽宽宽宽", 110) == "宽宽宽宽");
  CHECK(seen_lines("AAAAAAAAHIDE\r\tXXXX", 110) == "AAAAAAAAXXXX");
  CHECK(seen_lines("AA\u0301\u0301\u0301HIDE\r" + std::string(6, ' '), 110) ==
        "      ");
  // It is written over where it stood: half of a wide one is a blank.
  CHECK(seen_lines("宽宽\ra\n宽宽\r\x1b[31m ab", 10) == "a 宽\n ab ");
  // The last column holds the cursor, and a wide one goes to the next row.
  CHECK(seen_lines("abcde\rX\nabcdef\rX\nabcd宽\rX", 5) ==
        "Xbcde\nabcdeX\nabcdX ");
  CHECK(seen_lines("abcdefg\x1b[2Kh\nabc\r\t\x1b[0Kd", 5) == "abcde  h\nabc d");
  // What is longer than what was above it stays, and a long line is one.
  CHECK(seen_lines(row + "\n" + row + "b\n", 20) == row + "\n" + row + "b\n");
  CHECK(seen_lines("a\tb\r\n", 110) == "a\tb\n");
  CHECK(seen_lines("long\rab", 0) == "abng");
  // It is spelled as on the screen, and takes that room there.
  CHECK(seen_lines("\bab\rx\x1b]0;t\a\u200b\n\x1b[31mred", 110) ==
        "x\\u{200b}\nred");
}

TEST_CASE("a terminal shows of what the model reads the same as of an output") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const std::array atoms = {
      "a",       "b",          "c",         " ",        "宽",     "🎉",
      "\u0301",  "\u200D",     "\t",        "\r",       "\r",     "\n",
      "\x1b[K",  "\x1b[0K",    "\x1b[2K",   "\x1b[31m", "\b",     "\u200b",
      "defghij", "\x1b]0;t\a", "\x1b[?25l", "\xff",     "宽宽宽", "klmnopqrst"};
  for (int i = 0; i < 3000; ++i) {
    const std::size_t columns = 2 + random() % 20;
    std::string text;
    for (auto n = random() % 50; n > 0; --n)
      text += atoms[random() % atoms.size()];
    CAPTURE(columns, safe_text(text));
    const auto seen = seen_lines(text, columns);
    const auto shown = in_pieces(text, 1 + random() % 9);
    REQUIRE(little_terminal{1000}.lines_of(seen) ==
            little_terminal{columns}.lines_of(shown));
    REQUIRE(seen.find_first_of("\r\x1b") == seen.npos);
  }
}

TEST_CASE("an output costs as much as it has bytes") {
  constexpr std::size_t size = 1 << 16;
  // Each would be at work for long if a step cost as much as its row.
  for (const auto* again : {"\x1b[2Ky", "\x1b[K\u0301", "\ry", "\x1b[2K", "\ty",
                            "\r\x1b[K", "1%\r\x1b[K2%\r", "\x1b[2Ky\ry\t"}) {
    CAPTURE(safe_text(again));
    for (const char before : {'x', '\t'}) {
      std::string text(size, before);
      while (text.size() < 8 * size) text += again;
      const auto most = text.size() * 8;
      CHECK(settled_lines(text).size() <= most);
      CHECK(seen_lines(text, 60'000).size() <= most);
    }
  }
}
