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

/// A word, or another character.
std::vector<std::string_view> words_of(std::string_view x) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < x.size();) {
    std::size_t n = 1;
    if (is_of_word(x[at]))
      while (at + n < x.size() && is_of_word(x[at + n])) ++n;
    out.push_back(x.substr(at, n));
    at += n;
  }
  return out;
}

/// Of a line, its words, and which of them stand in the other one, too.
struct line_words {
  explicit line_words(std::string_view line)
      : all{words_of(line.substr(1))}, kept(all.size(), false) {}

  std::vector<std::string_view> all;
  std::vector<bool> kept;
};

/// What both begin and end with is kept; bytes of it. `first`, `behind`: so
/// many words.
std::size_t keep_ends(line_words& a, line_words& b, std::size_t& first,
                      std::size_t& behind) {
  std::size_t bytes = 0;
  const auto most = std::min(a.all.size(), b.all.size());
  const auto keep = [&](std::size_t i, std::size_t k) {
    if (a.all[i] != b.all[k]) return false;
    a.kept[i] = b.kept[k] = true;
    bytes += a.all[i].size();
    return true;
  };
  while (first < most && keep(first, first)) ++first;
  while (behind < most - first &&
         keep(a.all.size() - 1 - behind, b.all.size() - 1 - behind))
    ++behind;
  return bytes;
}

/// Between them the longest sequence that both have; bytes of its words, since
/// any two lines have blanks and commas in common. Nothing of what is too long.
std::size_t keep_between(line_words& a, line_words& b, std::size_t first,
                         std::size_t behind) {
  constexpr std::size_t most_pairs = 40'000;
  const auto rows = a.all.size() - first - behind;
  const auto columns = b.all.size() - first - behind;
  if (rows * columns > most_pairs) return 0;
  const auto wide = columns + 1;
  std::vector<std::size_t> longest((rows + 1) * wide);
  for (auto i = rows; i-- > 0;)
    for (auto k = columns; k-- > 0;)
      longest[i * wide + k] =
          a.all[first + i] == b.all[first + k]
              ? longest[(i + 1) * wide + k + 1] + a.all[first + i].size()
              : std::max(longest[(i + 1) * wide + k],
                         longest[i * wide + k + 1]);
  std::size_t bytes = 0;
  for (std::size_t i = 0, k = 0; i < rows && k < columns;) {
    const auto& word = a.all[first + i];
    if (word == b.all[first + k]) {
      a.kept[first + i++] = b.kept[first + k++] = true;
      if (is_of_word(word.front())) bytes += word.size();
    } else if (longest[(i + 1) * wide + k] >= longest[i * wide + k + 1]) {
      ++i;
    } else {
      ++k;
    }
  }
  return bytes;
}

/// Words that changed with nothing but a blank between them are one part.
changed_parts parts_of(const line_words& x) {
  changed_parts out;
  std::size_t at = 1;  // behind the mark
  for (std::size_t i = 0; i < x.all.size(); at += x.all[i++].size()) {
    if (x.kept[i]) continue;
    const auto end = at + x.all[i].size();
    const bool joins =
        !out.empty() && (out.back().end == at ||
                         (out.back().end + 1 == at && x.all[i - 1] == " "));
    if (joins)
      out.back().end = end;
    else
      out.push_back({at, end});
  }
  return out;
}

/// Of two lines, which begin with '-' and '+'.
std::pair<changed_parts, changed_parts> changed_in(std::string_view before,
                                                   std::string_view after) {
  line_words a{before};
  line_words b{after};
  std::size_t first = 0;
  std::size_t behind = 0;
  auto common = keep_ends(a, b, first, behind);
  common += keep_between(a, b, first, behind);
  if (common * 3 < std::max(before.size(), after.size()) - 1) return {};
  return {parts_of(a), parts_of(b)};
}

}  // namespace

namespace {

bool is_diff(std::string_view x) {
  return x.starts_with("@@ ") ||
         (x.starts_with("--- ") && x.find("\n@@ ") != x.npos);
}

/// Calls `f(line, is_of_file, ends)` for each line; `is_of_file`: it is one of
/// the file behind its mark, not a name or a place; `ends`: it has an end
/// there.
template <class F>
void for_each_diff_line(std::string_view text, F f) {
  bool within = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool place = line.starts_with("@@ ");
    within = within || place;
    f(line, within && !place && !line.starts_with('\\'),
      !text.starts_with('\\'));
  }
}

/// How lines end that a diff takes away, adds, and shows around.
struct line_ends {
  struct side {
    bool lf = false;
    bool crlf = false;
  };
  side gone, added, around;
  bool whole = true;  ///< none stands around
  bool cut = false;   ///< a row tells of lines that have none

  explicit line_ends(std::string_view diff) {
    for_each_diff_line(diff,
                       [&](std::string_view line, bool is_of_file, bool ends) {
                         if (!is_of_file) return;
                         const bool minus = line.starts_with('-');
                         const bool plus = line.starts_with('+');
                         if (!minus && !plus && !line.starts_with(' ')) {
                           cut = cut || !line.empty();
                           return;
                         }
                         whole = whole && (minus || plus);
                         auto& x = minus ? gone : plus ? added : around;
                         if (ends)
                           (line.ends_with('\r') ? x.crlf : x.lf) = true;
                       });
  }
  [[nodiscard]] bool differ() const {
    return (gone.lf || added.lf || around.lf) &&
           (gone.crlf || added.crlf || around.crlf);
  }
};

}  // namespace

std::string with_line_ends(std::string_view diff) {
  if (!is_diff(diff)) return std::string{diff};
  const bool differ = line_ends{diff}.differ();
  std::string out;
  out.reserve(diff.size());
  for_each_diff_line(diff,
                     [&](std::string_view line, bool is_of_file, bool ends) {
                       const bool cr = line.ends_with('\r');
                       out.append(line.substr(0, line.size() - (cr ? 1 : 0)));
                       if (cr && (differ || !is_of_file || !ends))
                         out += "\\x0d";
                       out += '\n';
                     });
  return out;
}

std::string changed_line_ends(std::string_view diff) {
  if (!is_diff(diff)) return {};
  const line_ends x{diff};
  if (!x.whole || x.added.lf == x.added.crlf || (x.gone.lf && x.gone.crlf))
    return {};
  const bool replaces = x.gone.lf || x.gone.crlf;
  if (replaces ? x.gone.crlf == x.added.crlf : !x.added.crlf) return {};
  const std::string what = !replaces      ? "CRLF"
                           : x.added.crlf ? "LF → CRLF"
                                          : "CRLF → LF";
  return what + (x.cut ? ", as far as it is shown" : "");
}

std::vector<changed_parts> changed_words(
    const std::vector<std::string>& lines) {
  std::vector<changed_parts> out(lines.size());
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
                          const changed_parts& parts, std::string_view paint) {
  std::string out{paint};
  std::size_t done = 0;
  const auto inside = [&](std::size_t at) {
    return std::clamp(at, from, from + piece.size()) - from;
  };
  for (const auto& x : parts) {
    const auto begin = inside(x.begin);
    const auto end = inside(x.end);
    if (begin >= end) continue;
    out.append(piece.substr(done, begin - done))
        .append("\x1b[7m")
        .append(piece.substr(begin, end - begin))
        .append("\x1b[27m");
    done = end;
  }
  return out.append(piece.substr(done)).append("\x1b[0m");
}

}  // namespace riffle::cli
