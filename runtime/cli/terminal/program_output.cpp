// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/program_output.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "messages/unseen.hpp"
#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/terminal_row.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// A sequence that a program's output may have.
struct row_sequence {
  enum class does : std::uint8_t {
    other,  ///< none of these; it is shown
    colors,
    erases,   ///< the rest of the row, or all of it
    titles,   ///< and links, and the clipboard: nothing that is drawn
    nothing,  ///< that is of use here: the cursor's look
  };
  std::size_t size = 0;
  does what = does::other;
  bool open = false;  ///< it may be one, once all of it is there
};

/// "ESC ] 0 ; title BEL", and its like (OSC): a link, the clipboard.
row_sequence title_of(std::string_view text) {
  constexpr auto longest = longest_sequence;
  for (std::size_t i = 2; i < std::min(text.size(), longest); ++i) {
    if (text[i] == '\a')
      return {.size = i + 1, .what = row_sequence::does::titles};
    if (text[i] == '\x1b' && i + 1 < std::min(text.size(), longest))
      return text[i + 1] == '\\'
                 ? row_sequence{.size = i + 2,
                                .what = row_sequence::does::titles}
                 : row_sequence{};
    if (text[i] == '\n' || text[i] == '\r') return {};
  }
  return {.open = text.size() < longest};
}

row_sequence row_sequence_of(std::string_view text) {
  using does = row_sequence::does;
  constexpr std::size_t longest = 64;
  if (text.size() == 1) return {.open = true};
  if (text[1] == ']') return title_of(text);
  if (text[1] != '[') return {};
  const bool sets = text.size() > 2 && text[2] == '?';
  const auto end = text.find_first_not_of("0123456789;:", sets ? 3 : 2);
  if (end == text.npos || end >= longest)
    return {.open = text.size() < longest};
  const auto numbers = text.substr(2, end - 2);
  const auto found = [&](does what) {
    return row_sequence{.size = end + 1, .what = what};
  };
  if (sets && (text[end] == 'h' || text[end] == 'l'))
    return numbers == "?25" || numbers == "?7" || numbers == "?2026"
               ? found(does::nothing)
               : row_sequence{};
  if (text[end] == 'm' && !sets) return found(does::colors);
  const bool erases =
      text[end] == 'K' && (numbers.empty() || numbers == "0" || numbers == "2");
  return erases ? found(does::erases) : row_sequence{};
}

/// Colours, without what conceals the text (8), and without those of lines
/// below it (58), whose numbers others take for such.
std::string shown_colors(std::string_view sequence) {
  std::string out;
  auto rest = sequence.substr(2, sequence.size() - 3);
  bool first = true;
  bool all_left_out = !rest.empty();
  std::size_t parts = 0;  // of a colour that follow: "5;8", "2;8;8;8"
  bool left_out = false;
  for (bool more = true; more;) {
    const auto end = std::min(rest.find(';'), rest.size());
    const auto one = rest.substr(0, end);
    more = end < rest.size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (parts > 0) {
      --parts;
    } else {
      const auto digits =
          one.substr(std::min(one.find_first_not_of('0'), one.size()));
      const bool is_color = digits == "38" || digits == "48" || digits == "58";
      left_out = digits == "8" || digits == "58" || one.starts_with("58:");
      if (is_color)
        parts = rest.starts_with("5;") ? 2 : rest.starts_with("2;") ? 4 : 0;
    }
    if (left_out) continue;
    if (!std::exchange(first, false)) out += ';';
    out += one;
    all_left_out = false;
  }
  return all_left_out ? std::string{} : "\x1b[" + out + "m";
}

/// Blank, and meant to be: of the unseen those that take room.
bool is_blank(char32_t code) {
  return code == 0xA0 || (code >= 0x2000 && code <= 0x200A) || code == 0x202F ||
         code == 0x205F || code == 0x2800 || code == 0x3000;
}

void append_settled(std::string& out, std::string_view line,
                    std::size_t columns) {
  using does = row_sequence::does;
  terminal_row row{out, columns};
  while (!line.empty()) {
    const auto found =
        line[0] == '\x1b' ? row_sequence_of(line) : row_sequence{};
    auto size = found.size;
    if (line[0] == '\r') {
      row.to_begin();
      size = 1;
    } else if (line[0] == '\t') {
      row.tab();
      size = 1;
    } else if (found.what == does::erases) {
      const bool all = line.substr(0, size).ends_with("2K");
      if (all)
        row.erase_all();
      else
        row.erase_rest();
    } else if (found.what == does::other || found.what == does::titles) {
      size = row.put_first(line);
    }
    line.remove_prefix(size);
  }
  row.flush();
}

/// No character of it takes more columns than bytes.
bool fits(std::string_view line, std::size_t columns) {
  std::size_t at = 0;
  for (const char c : line)
    at = c == '\t' ? (at / terminal_row::tab_stop + 1) * terminal_row::tab_stop
                   : at + 1;
  return at <= columns;
}

/// Nothing is written over in it, and each character seen: it stays as it is.
bool is_settled(std::string_view line, std::size_t columns) {
  if (line.find_first_of("\r\x1b") != line.npos) return false;
  if (columns == 0 || line.empty()) return true;
  if (line[0] != '\t' && first_shown(line).columns == 0) return false;
  // A tab behind the last column goes back to it.
  return line.find('\t') == line.npos || fits(line, columns);
}

std::string settled(std::string_view output, std::size_t columns) {
  std::string out;
  out.reserve(output.size());
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto line = output.substr(0, end);
    const auto shown = line.substr(0, line.find_last_not_of('\r') + 1);
    if (is_settled(shown, columns))
      out += shown;
    else
      append_settled(out, shown, columns);
    if (end < output.size()) out += '\n';
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return out;
}

}  // namespace

std::size_t begun_output(std::string_view piece) {
  auto at = piece.size() - std::min(piece.size(), longest_sequence);
  while ((at = piece.find('\x1b', at)) != piece.npos) {
    const auto found = row_sequence_of(piece.substr(at));
    if (found.open) return piece.size() - at;
    at += std::max<std::size_t>(found.size, 1);
  }
  return begun_character(piece);
}

std::size_t whole_from(std::string_view text, std::size_t at) {
  auto begin = at - std::min(at, longest_sequence);
  while ((begin = text.find('\x1b', begin)) < at) {
    const auto found = row_sequence_of(text.substr(begin));
    begin += std::max<std::size_t>(found.size, 1);
    at = found.size > 0 ? std::max(at, begin) : at;
  }
  // No character has more; bytes that are none are cut anywhere.
  constexpr int most = 3;
  for (int i = 0; i < most && at < text.size(); ++i)
    if (continues_character(text[at])) ++at;
  return at;
}

std::string settled_lines(std::string_view output) {
  return settled(output, 0);
}

std::string seen_lines(std::string_view output, std::size_t columns) {
  safe_output shown{false};
  auto all = shown.on(output);
  all += shown.end();
  return settled(all, columns);
}

/// What a model would read and nobody sees is spelled, too.
std::string safe_output::spelled(std::string_view part) {
  const auto safe = safe_text(part);
  if (safe.empty()) return safe;
  auto out = before_;
  out.reserve(before_.size() + safe.size());
  for (std::string_view rest = safe; !rest.empty();) {
    const auto c = first_character(rest);
    if (!is_blank(c.code) && is_invisible(c.code, out))
      append_code(out, c.code);
    else
      out += rest.substr(0, c.size);
    rest.remove_prefix(c.size);
  }
  out.erase(0, before_.size());
  before_ = out.substr(out.size() - std::min<std::size_t>(out.size(), 4));
  return out;
}

std::string safe_output::on(std::string_view piece) {
  const auto all = std::exchange(held_, {}).append(piece);
  std::string_view text = all;
  std::string out;
  while (!text.empty()) {
    const auto at = std::min(text.find_first_of("\r\x1b"), text.size());
    auto part = text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) {
      held_ = part.substr(part.size() - begun_character(part));
      part.remove_suffix(held_.size());
    }
    out += spelled(part);
    if (text.empty()) break;
    if (text[0] == '\r') {
      out += '\r';
      before_.clear();
      text.remove_prefix(1);
      continue;
    }
    const auto found = row_sequence_of(text);
    if (found.open) {
      held_ = text;
      break;
    }
    const auto size = std::max<std::size_t>(found.size, 1);
    using does = row_sequence::does;
    const auto what = found.what;
    if (what == does::other) out += safe_text(text.substr(0, 1));
    if (what == does::erases) out += text.substr(0, size);
    if (what == does::other || what == does::erases) before_.clear();
    if (found.what == does::colors && color_)
      out += shown_colors(text.substr(0, size));
    colored_ = colored_ || (found.what == does::colors && color_);
    text.remove_prefix(size);
  }
  return out;
}

std::string safe_output::end() {
  const auto rest = spelled(std::exchange(held_, {}));
  before_.clear();
  return std::exchange(colored_, false) ? rest + "\x1b[0m" : rest;
}

}  // namespace riffle::cli
