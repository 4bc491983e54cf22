// SPDX-License-Identifier: MIT
#include "tools/mcp/names.hpp"

#include <algorithm>

#include "runtime/base/digest.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t digits_of_digest = 8;
constexpr std::size_t longest_title = 120;

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool fits(char c) {
  return is_small(c) || is_capital(c) || is_digit(c) || c == '_' || c == '-';
}

}  // namespace

std::string tool_name(std::string_view server, std::string_view tool) {
  auto out = std::string{server} + "__" + std::string{tool};
  // "a_" with "b" and "a" with "_b" are not the same.
  const bool apart = server.ends_with('_');
  const bool taken = std::ranges::all_of(out, fits) && !apart;
  if (taken && out.size() <= longest_name) return out;
  for (auto& c : out)
    if (!fits(c)) c = '_';
  out.resize(std::min(out.size(), longest_name - digits_of_digest - 1));
  const auto digest =
      apart ? sha256(std::string{server} + " " + std::string{tool})
            : sha256(tool);
  return out + "_" + digest.substr(0, digits_of_digest);
}

std::string title_of(std::string_view server, std::string_view tool) {
  std::string words;
  char before = ' ';
  for (const char c : tool) {
    const bool gap = c == '_' || c == '-' || c == '.' || c == '/' || c == ' ';
    if (gap && before != ' ') words += ' ';
    if (is_capital(c) && (is_small(before) || is_digit(before))) words += ' ';
    if (!gap) words += is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
    before = gap ? ' ' : c;
  }
  return with_dots(
      "Using " + std::string{server} + " to " + std::string{trimmed(words)},
      longest_title);
}

}  // namespace riffle::mcp
