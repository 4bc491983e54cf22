// SPDX-License-Identifier: MIT
#include "runtime/cli/view/json_text.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t unit_size = 6;  // \uNNNN

/// The number behind the \u with which a text begins.
std::optional<std::uint32_t> unit_of(std::string_view text) {
  if (text.size() < unit_size || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t out = 0;
  const auto* const end = text.data() + unit_size;
  const auto read = std::from_chars(text.data() + 2, end, out, 16);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return out;
}

struct escaped {
  std::uint32_t code = 0;
  std::size_t size = 0;  ///< bytes; 0: there is none
};

/// The character with whose escape a text begins; one of two halves, too.
escaped first_escaped(std::string_view text) {
  const auto unit = unit_of(text);
  if (!unit) return {};
  if (*unit < 0xD800 || *unit > 0xDFFF) return {*unit, unit_size};
  const auto second = unit_of(text.substr(unit_size));
  if (*unit > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF)
    return {};
  return {0x10000 + ((*unit - 0xD800) << 10) + (*second - 0xDC00),
          2 * unit_size};
}

}  // namespace

std::string readable_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto found = first_escaped(text);
    std::string shown;
    if (found.code >= 0x80) append_utf8(shown, found.code);
    if (!shown.empty() && exact_text("a" + shown) == "a" + shown) {
      out += shown;
      text.remove_prefix(found.size);
      continue;
    }
    // An escape is one piece: what follows a '\\' begins no other.
    const std::size_t size = text[0] == '\\' && text.size() > 1 ? 2 : 1;
    out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace riffle::cli
