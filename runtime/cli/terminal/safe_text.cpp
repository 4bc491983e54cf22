// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/safe_text.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "messages/unseen.hpp"
#include "messages/utf8.hpp"

namespace riffle::cli {

namespace {

constexpr auto hex = "0123456789abcdef";

/// Each byte that belongs to no character counts as one.
utf8_character first_of(std::string_view text) {
  const auto found = first_character(text);
  return found.valid ? found : utf8_character{};
}

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/// ASCII, or of two bytes and before U+0580: Latin, Greek, Cyrillic, Armenian.
bool ends_in_letter(std::string_view text) {
  if (text.empty() || (text.back() & 0x80) == 0) return true;
  const auto lead =
      text.size() < 2 ? 0 : static_cast<unsigned char>(text[text.size() - 2]);
  return lead >= 0xC2 && lead < 0xD6;
}

/// Joiners belong to scripts that have them, and to pictures.
bool is_invisible(char32_t code, std::string_view before) {
  return is_joiner(code) ? ends_in_letter(before) : is_unseen(code);
}

void append_code(std::string& out, std::uint32_t code) {
  out.append("\\u{");
  for (int shift = code > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4)
    out += hex[code >> shift & 15];
  out += '}';
}

void append_safe(std::string& out, std::string_view bytes,
                 const utf8_character& c) {
  if (!c.valid) {
    out += replacement_character;
  } else if (c.code == 0x1B) {
    out += "^[";
  } else if (is_control(c.code)) {
    out.append("\\x").append({hex[c.code >> 4], hex[c.code & 15]});
  } else if (turns_direction(c.code)) {
    append_code(out, c.code);
  } else {
    out += bytes;
  }
}

bool is_space(std::uint32_t code) {
  return code == ' ' || code == '\n' || code == '\r' || code == '\t';
}

}  // namespace

std::string safe_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto c = first_of(text);
    if (c.code == '\n' || c.code == '\t') {
      out += text[0];
    } else if (!text.starts_with("\r\n")) {
      append_safe(out, text.substr(0, c.size), c);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

namespace {

/// A sequence that a program's output may have.
struct row_sequence {
  enum class does : std::uint8_t {
    other,  ///< none of these; it is shown
    colors,
    erases,   ///< the rest of the row, or all of it
    nothing,  ///< that is of use here: the cursor's look, titles, links
  };
  std::size_t size = 0;
  does what = does::other;
  bool open = false;  ///< it may be one, once all of it is there
};

/// "ESC ] 0 ; title BEL", and its like (OSC): a link, the clipboard.
row_sequence title_of(std::string_view text) {
  constexpr std::size_t longest = 512;
  for (std::size_t i = 2; i < std::min(text.size(), longest); ++i) {
    if (text[i] == '\a')
      return {.size = i + 1, .what = row_sequence::does::nothing};
    if (text[i] == '\x1b' && i + 1 < text.size())
      return text[i + 1] == '\\'
                 ? row_sequence{.size = i + 2,
                                .what = row_sequence::does::nothing}
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
  if (end == text.npos) return {.open = text.size() < longest};
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

/// Nobody sees them, and no script needs them where it is read as one.
bool hides(char32_t code) {
  return code == 0xAD || code == 0x115F || code == 0x1160 || code == 0x200B ||
         (code >= 0x2060 && code <= 0x2064) ||
         (code >= 0x206A && code <= 0x206F) || code == 0x3164 ||
         (code >= 0xFE00 && code <= 0xFE0D) || code == 0xFEFF ||
         code == 0xFFA0 || (code >= 0xE0000 && code <= 0xE0FFF);
}

/// What a model would read and nobody sees, spelled.
std::string with_hidden(std::string text) {
  if (text.find_first_of("\xC2\xE1\xE2\xE3\xEF\xF3") == text.npos) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto c = first_of(rest);
    if (hides(c.code))
      append_code(out, c.code);
    else
      out += rest.substr(0, c.size);
    rest.remove_prefix(c.size);
  }
  return out;
}

/// As it stands there in the end: a character takes the place of another.
void append_settled(std::string& out, std::string_view row) {
  constexpr std::size_t longest_row = 1000;
  std::vector<std::string_view> cells;
  std::size_t at = 0;
  while (!row.empty()) {
    const auto found = row[0] == '\x1b' ? row_sequence_of(row) : row_sequence{};
    auto size = found.size;
    if (row[0] == '\r') {
      at = 0;
      size = 1;
    } else if (found.what == row_sequence::does::erases) {
      const bool all = row.substr(0, size).ends_with("2K");
      cells.resize(std::min(at, cells.size()));
      // A longer row is none of a terminal, and would be costly.
      if (all && cells.size() <= longest_row) std::ranges::fill(cells, " ");
    } else if (size == 0) {
      size = first_of(row).size;
      if (at == cells.size()) cells.emplace_back();
      cells[at++] = row.substr(0, size);
    }
    row.remove_prefix(size);
  }
  for (const auto x : cells) out += x;
}

}  // namespace

std::size_t begun_character(std::string_view piece) {
  for (std::size_t n = 1; n <= 3 && n <= piece.size(); ++n) {
    const auto c = static_cast<unsigned char>(piece[piece.size() - n]);
    if (c < 0x80) return 0;
    if (c < 0xC0) continue;
    const std::size_t size = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return n < size ? n : 0;
  }
  return 0;
}

std::string settled_lines(std::string_view output) {
  std::string out;
  out.reserve(output.size());
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto row = output.substr(0, end);
    if (row.find_first_of("\r\x1b") == row.npos)
      out += row;
    else
      append_settled(out, row);
    if (end < output.size()) out += '\n';
    output.remove_prefix(std::min(end + 1, output.size()));
  }
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
    out += with_hidden(safe_text(part));
    if (text.empty()) break;
    if (text[0] == '\r') {
      out += '\r';
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
    if (found.what == does::other)
      out += safe_text(text.substr(0, 1));
    else if (found.what == does::erases)
      out += text.substr(0, size);
    else if (found.what == does::colors && color_)
      out += shown_colors(text.substr(0, size));
    colored_ = colored_ || (found.what == does::colors && color_);
    text.remove_prefix(size);
  }
  return out;
}

std::string safe_output::end() {
  const auto rest = with_hidden(safe_text(std::exchange(held_, {})));
  return std::exchange(colored_, false) ? rest + "\x1b[0m" : rest;
}

std::string exact_text(std::string_view text) {
  const auto safe = safe_text(text);
  std::string out;
  out.reserve(safe.size());
  for (std::string_view rest = safe; !rest.empty();) {
    const auto c = first_of(rest);
    const auto bytes = rest.substr(0, c.size);
    rest.remove_prefix(c.size);
    if (is_invisible(c.code, out))
      append_code(out, c.code);
    else
      out += bytes;
  }
  return out;
}

std::string shell_word(std::string_view text) {
  const bool plain =
      text.find_first_of("\n\t") == text.npos && exact_text(text) == text;
  std::string out = plain ? "'" : "$'";
  for (const unsigned char c : text) {
    if (c == '\'')
      out += plain ? "'\\''" : "\\'";
    else if (!plain && c == '\\')
      out += "\\\\";
    else if (!plain && (c < 0x20 || c >= 0x7F))
      out.append("\\x").append({hex[c >> 4], hex[c & 15]});
    else
      out += static_cast<char>(c);
  }
  return out + "'";
}

std::string safe_line(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  bool gap = false;
  while (!text.empty()) {
    const auto c = first_of(text);
    if (c.valid && is_space(c.code)) {
      gap = !out.empty();
    } else {
      count += gap ? 2 : 1;
      if (count > most) return out + "…";
      if (gap) out += ' ';
      gap = false;
      append_safe(out, text.substr(0, c.size), c);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

std::string exact_line(std::string_view text, std::size_t most) {
  return exact_text(safe_line(text, most));
}

std::string exact_name(std::string_view name, std::size_t most) {
  constexpr std::size_t most_blanks = 8;
  std::string out;
  std::size_t count = 0;
  while (!name.empty()) {
    if (++count > most) return out + "…";
    // What stands behind so many would be cut.
    if (const auto n = std::min(name.find_first_not_of(' '), name.size());
        n > most_blanks) {
      append_code(out, ' ');
      out += "×" + std::to_string(n);
      name.remove_prefix(n);
      continue;
    }
    const auto c = first_of(name);
    const auto bytes = name.substr(0, c.size);
    name.remove_prefix(c.size);
    const bool blank =
        c.code == ' ' && (out.empty() || out.ends_with(' ') || name.empty());
    if (blank || (c.valid && is_invisible(c.code, out)))
      append_code(out, c.code);
    else
      append_safe(out, bytes, c);
  }
  return out;
}

}  // namespace riffle::cli
