// SPDX-License-Identifier: MIT
#pragma once

// Characters of UTF-8 and their borders: the one place that knows its bytes.
// Nothing here throws but what a string's growth does.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace riffle {

/// What stands for bytes that are no character: U+FFFD.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Whether a byte is not the first of its character.
constexpr bool continues_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

struct utf8_character {
  char32_t code = 0;     ///< if it is valid
  std::size_t size = 1;  ///< bytes; of what is none: those that readers replace
                         ///< by one U+FFFD
  bool valid = false;
};

/// The first character of a text that is not empty (table 3-7 of the Unicode
/// standard: well-formed byte sequences).
constexpr utf8_character first_character(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  if (first < 0xC2 || first > 0xF4) return {};
  const std::size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  char32_t code = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const unsigned next =
        i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    if (next < low || next > high) return {0, i, false};
    code = code << 6 | (next & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {code, size, true};
}

/// Appends the character with this number, which is one.
constexpr void append_utf8(std::string& out, char32_t code) {
  const auto byte = [&](char32_t x) { out.push_back(static_cast<char>(x)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xE0 | code >> 12);
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
    }
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

constexpr std::size_t count_characters(std::string_view text) noexcept {
  return text.size() - static_cast<std::size_t>(
                           std::ranges::count_if(text, continues_character));
}

/// The first `count` characters, or all.
constexpr std::string_view first_characters(std::string_view text,
                                            std::size_t count) noexcept {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues_character(text[at]) && count-- == 0) break;
  return text.substr(0, at);
}

/// The longest prefix of at most `limit` bytes that ends at a border. `text` is
/// UTF-8.
constexpr std::string_view cut_utf8(std::string_view text,
                                    std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  auto end = limit;
  while (end > 0 && limit - end < 4 && continues_character(text[end])) --end;
  return text.substr(0, end);
}

/// The longest suffix of at most `limit` bytes that begins at a border.
constexpr std::string_view tail_utf8(std::string_view text,
                                     std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  auto begin = text.size() - limit;
  while (begin < text.size() && continues_character(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace riffle
