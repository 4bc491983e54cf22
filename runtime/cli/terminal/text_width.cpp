// SPDX-License-Identifier: MIT
// The only file that includes utf8proc.
#include "runtime/cli/terminal/text_width.hpp"

#include <array>
#include <utf8proc.h>
#include <utility>

namespace riffle::cli {

namespace {

constexpr utf8proc_int32_t as_picture = 0xFE0F;  // variation selector 16

struct code_point {
  utf8proc_int32_t code = 0xFFFD;
  std::size_t size = 1;
};

code_point first_of(std::string_view text) {
  code_point x;
  const auto n =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &x.code);
  if (n <= 0) return {};
  x.size = static_cast<std::size_t>(n);
  return x;
}

std::size_t columns_of_code(utf8proc_int32_t code) {
  // Newer than the library, maybe a picture.
  if (utf8proc_category(code) == UTF8PROC_CATEGORY_CN) return 2;
  const int width = utf8proc_charwidth(code);
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

using cluster = shown_character;

cluster first_cluster(std::string_view text) {
  auto last = first_of(text);
  cluster out{last.size, columns_of_code(last.code)};
  utf8proc_int32_t state = 0;
  while (out.size < text.size()) {
    const auto next = first_of(text.substr(out.size));
    if (utf8proc_grapheme_break_stateful(last.code, next.code, &state)) break;
    out.columns += columns_of_code(next.code);
    if (next.code == as_picture && out.columns == 1) out.columns = 2;
    out.size += next.size;
    last = next;
  }
  return out;
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

/// As `first_cluster`; most text is ASCII.
cluster next_cluster(std::string_view text) {
  const bool plain =
      is_plain(text[0]) && (text.size() == 1 || is_plain(text[1]));
  return plain ? cluster{1, 1} : first_cluster(text);
}

}  // namespace

shown_character first_shown(std::string_view text) {
  return next_cluster(text);
}

std::optional<char> base_letter(std::string_view character) {
  const auto code = first_of(character).code;
  std::array<utf8proc_int32_t, 32> parts{};
  int last = 0;
  const auto n = utf8proc_decompose_char(
      code, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT),
      &last);
  if (n <= 0 || parts[0] < 0x20 || parts[0] >= 0x7F) return std::nullopt;
  return static_cast<char>(parts[0]);
}

std::size_t columns_of(std::string_view line) {
  std::size_t out = 0;
  while (!line.empty()) {
    const auto x = next_cluster(line);
    out += x.columns;
    line.remove_prefix(x.size);
  }
  return out;
}

std::size_t wrapped_rows(std::string_view line, std::size_t columns) {
  std::size_t rows = 1;
  std::size_t used = 0;
  while (!line.empty()) {
    const auto x = next_cluster(line);
    if (used + x.columns > columns && used > 0) {
      ++rows;
      used = 0;
    }
    used += x.columns;
    line.remove_prefix(x.size);
  }
  return rows;
}

std::string fit(std::string_view line, std::size_t columns) {
  if (columns == 0) return {};
  std::size_t end = 0;  // of what fits before an ellipsis
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < line.size()) {
    const auto x = next_cluster(line.substr(at));
    used += x.columns;
    if (used > columns) return std::string{line.substr(0, end)} + "…";
    at += x.size;
    if (used < columns) end = at;
  }
  return std::string{line};
}

std::string padded(std::string line, std::size_t columns) {
  const auto used = columns_of(line);
  if (used < columns) line.append(columns - used, ' ');
  return line;
}

}  // namespace riffle::cli
