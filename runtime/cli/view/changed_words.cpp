// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changed_words.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace riffle::cli {

namespace {

/// A character of more bytes is a part of a word.
bool is_of_word(char c) {
  const auto x = static_cast<unsigned char>(c);
  return x >= 0x80 || x == '_' || (x >= '0' && x <= '9') ||
         (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z');
}

/// Inside of a word.
bool is_inside(std::string_view x, std::size_t at) {
  return at > 0 && at < x.size() && is_of_word(x[at - 1]) && is_of_word(x[at]);
}

/// Of two lines, which begin with '-' and '+'.
std::pair<changed_part, changed_part> changed_in(std::string_view before,
                                                 std::string_view after) {
  const auto most = std::min(before.size(), after.size());
  std::size_t same = 1;
  while (same < most && before[same] == after[same]) ++same;
  while (same > 1 && (is_inside(before, same) || is_inside(after, same)))
    --same;
  std::size_t behind = 0;
  while (behind < most - same &&
         before[before.size() - 1 - behind] == after[after.size() - 1 - behind])
    ++behind;
  while (behind > 0 && (is_inside(before, before.size() - behind) ||
                        is_inside(after, after.size() - behind)))
    --behind;
  const auto common = same - 1 + behind;
  if (common * 3 < std::max(before.size(), after.size()) - 1) return {};
  return {{same, before.size() - behind}, {same, after.size() - behind}};
}

}  // namespace

std::vector<changed_part> changed_words(const std::vector<std::string>& lines) {
  std::vector<changed_part> out(lines.size());
  const auto count = [&](std::size_t from, char mark) {
    std::size_t n = 0;
    while (from + n < lines.size() && lines[from + n].starts_with(mark)) ++n;
    return n;
  };
  for (std::size_t i = 0; i < lines.size();) {
    const auto gone = count(i, '-');
    const auto added = count(i + gone, '+');
    if (gone == added)
      for (std::size_t k = i; k < i + gone; ++k)
        std::tie(out[k], out[k + gone]) = changed_in(lines[k], lines[k + gone]);
    i += std::max<std::size_t>(gone + added, 1);
  }
  return out;
}

std::string painted_piece(std::string_view piece, std::size_t from,
                          const changed_part& part, std::string_view paint) {
  const auto inside = [&](std::size_t at) {
    return std::clamp(at, from, from + piece.size()) - from;
  };
  const auto begin = inside(part.begin);
  const auto end = inside(std::max(part.begin, part.end));
  std::string out{paint};
  out += piece.substr(0, begin);
  if (begin < end)
    out.append("\x1b[7m")
        .append(piece.substr(begin, end - begin))
        .append("\x1b[27m");
  return out.append(piece.substr(end)).append("\x1b[0m");
}

}  // namespace riffle::cli
