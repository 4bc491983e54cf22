// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/safe_text.hpp"

#include <cstdint>

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

bool is_invisible(char32_t code, std::string_view before) {
  return is_joiner(code) ? ends_in_letter(before) : is_unseen(code);
}

void append_code(std::string& out, char32_t code) {
  out.append("\\u{");
  for (int shift = code > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4)
    out += hex[code >> shift & 15];
  out += '}';
}

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
