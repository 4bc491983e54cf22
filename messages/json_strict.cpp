// SPDX-License-Identifier: MIT
#include "messages/json_strict.hpp"

#include "messages/utf8.hpp"

namespace riffle {

bool nests_deeper(std::string_view text, std::size_t limit) noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::string json_mistake(std::string_view what) {
  constexpr std::size_t most = 300;
  if (const auto end = what.find("] "); end != what.npos)
    what.remove_prefix(end + 2);
  constexpr std::string_view noise = "parse error at ";
  if (what.starts_with(noise)) what.remove_prefix(noise.size());
  std::string result;
  while (!what.empty()) {
    const auto next = first_character(what);
    result += next.valid ? what.substr(0, next.size) : replacement_character;
    what.remove_prefix(next.size);
  }
  if (result.size() > most)
    result = std::string{cut_utf8(result, most)} + "...";
  return result;
}

std::optional<nlohmann::json> parse_strict(std::string_view text,
                                           std::size_t deepest) {
  // The parser takes a NUL byte for the end of the text.
  if (text.find('\0') != text.npos || nests_deeper(text, deepest))
    return std::nullopt;
  auto value = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace riffle
