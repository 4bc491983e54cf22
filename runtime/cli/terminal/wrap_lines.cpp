// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/wrap_lines.hpp"

#include <algorithm>

#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// A row narrower than this is not worth an indent.
constexpr std::size_t narrowest = 20;

/// Bytes of a colour at the front; 0: none.
std::size_t color_size(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find('m');
  return end == text.npos ? 0 : end + 1;
}

/// The first piece of a line that fits into so many columns, its end a blank
/// if there is one.
std::string_view first_row(std::string_view line, std::size_t columns) {
  std::size_t used = 0;
  std::size_t blank = 0;  // behind the last one
  bool word = false;      // something but blanks
  for (std::size_t at = 0; at < line.size();) {
    if (const auto n = color_size(line.substr(at)); n > 0) {
      at += n;
      continue;
    }
    const auto x = first_shown(line.substr(at));
    const bool is_blank = line[at] == ' ';
    // A blank between words may stand behind the last column.
    const bool counts = !is_blank || at + 1 == line.size();
    if (used + x.columns > columns && counts && at > 0)
      return line.substr(0, blank > 0 ? blank : at);
    // The mark of a prompt stays behind its last word, and a dash before what
    // it is about: often the last one.
    if (is_blank && word && line.substr(at) != " > " &&
        !line.substr(0, at).ends_with("—"))
      blank = at + x.size;
    word = word || !is_blank;
    used += x.columns;
    at += x.size;
  }
  return line;
}

/// Where the last column of a row begins that does so in the left half; 0: it
/// has none.
std::size_t last_column(std::string_view row, std::size_t columns) {
  std::size_t out = 0;
  for (auto gap = row.find("  "); gap != row.npos; gap = row.find("  ", gap)) {
    gap = std::min(row.find_first_not_of(' ', gap), row.size());
    const auto at = columns_of(row.substr(0, gap));
    // What stands in brackets behind a column is a part of it.
    if (at > columns / 2 || row.substr(gap).starts_with('(')) break;
    out = at;
  }
  return out;
}

/// As the line itself is, and two blanks more; of a row that is indented, as
/// its last column.
std::size_t indent_of(std::string_view line, std::size_t columns) {
  std::size_t color = 0;  // a colour takes no room before the first word
  for (std::size_t n = 1; n > 0; color += n) n = color_size(line.substr(color));
  line.remove_prefix(color);
  const auto begin = std::min(line.find_first_not_of(' '), line.size());
  if (columns <= narrowest || begin >= columns / 2) return 0;
  const auto column = begin > 0 ? last_column(line, columns) : 0;
  return column > begin ? column : begin + 2;
}

void wrap_line(std::string& out, std::string_view line, std::size_t columns,
               std::size_t behind) {
  const std::string indent(behind, ' ');
  auto row = first_row(line, columns);
  for (;;) {
    line.remove_prefix(row.size());
    if (line.empty()) break;
    row = row.substr(0, row.find_last_not_of(' ') + 1);
    out.append(row).append("\n").append(indent);
    row = first_row(line, columns - indent.size());
  }
  out.append(row);
}

/// As wide as a terminal shows it, behind so many columns.
std::string without_tabs(std::string_view line, std::size_t before) {
  constexpr std::size_t stop = 8;
  std::string out;
  for (auto tab = line.find('\t'); tab != line.npos; tab = line.find('\t')) {
    out += line.substr(0, tab);
    out.append(stop - (before + columns_of(out)) % stop, ' ');
    line.remove_prefix(tab + 1);
  }
  return out.append(line);
}

/// `wrap(out, line, columns)` for each line.
template <class Wrap>
std::string wrap_each(std::string_view text, std::size_t columns, Wrap wrap) {
  if (columns < 2) return std::string{text};
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    wrap(out, text.substr(0, end), columns - 1);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string wrap_lines(std::string_view text, std::size_t columns) {
  return wrap_each(text, columns, [](auto& out, auto line, auto width) {
    wrap_line(out, line, width, indent_of(line, width));
  });
}

std::string wrap_rows(std::string_view text, std::size_t columns) {
  return wrap_each(text, columns, [](auto& out, auto row, auto width) {
    if (row.starts_with(' ')) {
      out += row;
      return;
    }
    const auto column = std::max<std::size_t>(last_column(row, width), 2);
    wrap_line(out, row, width, width >= narrowest ? column : 0);
  });
}

std::vector<std::string> wrapped(std::string_view line, std::size_t columns,
                                 std::string_view first,
                                 std::string_view next) {
  std::vector<std::string> rows;
  auto before = first;
  do {
    const auto most = columns - std::min(columns, columns_of(before));
    std::size_t taken = 0;
    std::size_t used = 0;
    std::size_t word = 0;  // where the last word of the row begins
    while (taken < line.size()) {
      const auto x = first_shown(line.substr(taken));
      if (used + x.columns > most && taken > 0) break;
      used += x.columns;
      taken += x.size;
      // The mark of a prompt stays behind its last word.
      if (line[taken - 1] == ' ' && line.substr(taken) != "> ") word = taken;
    }
    // A row is not left half empty for a long word.
    if (taken < line.size() && word > taken / 2) taken = word;
    rows.push_back(std::string{before} + std::string{line.substr(0, taken)});
    line.remove_prefix(taken);
    before = next;
  } while (!line.empty());
  return rows;
}

std::vector<std::string> exact_rows(std::string_view line, std::size_t columns,
                                    std::string_view first) {
  const auto plain = without_tabs(line, columns_of(first));
  if (columns < 2 || columns_of(first) + columns_of(plain) < columns)
    return {std::string{first}.append(line)};
  return wrapped(plain, columns - 1, first, "┊ ");
}

std::string wrap_exact(std::string_view text, std::size_t columns) {
  if (columns < 2) return std::string{text};
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    for (const auto& row : exact_rows(text.substr(0, end), columns))
      out.append(row).append("\n");
    if (end == text.size()) out.pop_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace riffle::cli
