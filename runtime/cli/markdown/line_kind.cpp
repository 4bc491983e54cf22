// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/line_kind.hpp"

namespace riffle::cli {

namespace {

std::size_t blanks(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

/// Columns of blanks; a tab counts for four.
std::size_t width_of_blanks(std::string_view text) {
  std::size_t out = 0;
  for (const char c : text) out += c == '\t' ? 4 : 1;
  return out;
}

/// Bytes of "- " or "12. ", 0 if there is none.
std::size_t marker_size(std::string_view text) {
  constexpr std::size_t most_digits = 9;
  std::size_t n = 0;
  if (!text.empty() &&
      std::string_view{"-*+"}.find(text[0]) != std::string_view::npos) {
    n = 1;
  } else {
    n = std::min(text.find_first_not_of("0123456789"), text.size());
    if (n == 0 || n > most_digits || n == text.size()) return 0;
    if (text[n] != '.' && text[n] != ')') return 0;
    ++n;
  }
  return n < text.size() && (text[n] == ' ' || text[n] == '\t') ? n + 1 : 0;
}

}  // namespace

line_head head_of(std::string_view line) {
  line_head out;
  auto at = blanks(line);
  out.indent = width_of_blanks(line.substr(0, at));
  while (at < line.size() && line[at] == '>') {
    ++out.quotes;
    ++at;
    const auto gap = blanks(line.substr(at));
    const bool again = line.substr(at + gap).starts_with('>');
    at += again ? gap : std::min<std::size_t>(gap, 1);
  }
  const auto deeper = out.quotes > 0 ? blanks(line.substr(at)) : 0;
  const auto size = marker_size(line.substr(at + deeper));
  if (size > 0) {
    const auto mark = line.substr(at + deeper, size - 1);
    const bool counted = mark[0] >= '0' && mark[0] <= '9';
    out.marker = std::string(deeper, ' ') +
                 (counted ? std::string{mark} : std::string{"•"}) + " ";
    at += deeper + size;
  }
  out.size = at;
  return out;
}

std::size_t fenced_item(std::string_view line) {
  const auto head = head_of(line);
  const bool item = head.quotes == 0 && !head.marker.empty();
  return item && !fence_of(line.substr(head.size)).empty() ? head.size : 0;
}

bool opens_fence(std::string_view line) {
  line.remove_prefix(fenced_item(line));
  const auto mark = fence_of(line);
  return !mark.empty() &&
         line.find('`', line.find(mark) + mark.size()) == line.npos;
}

}  // namespace riffle::cli
