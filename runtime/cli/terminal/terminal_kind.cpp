// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/terminal_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// What Riffle itself writes, and what models like.
constexpr std::array<std::pair<std::string_view, char>, 37> looks_like{
    {{"…", '~'},  {"—", '-'}, {"–", '-'}, {"‑", '-'}, {"─", '-'}, {"━", '-'},
     {"│", '|'},  {"┊", ':'}, {"▌", '|'}, {"┃", '|'}, {"┼", '+'}, {"├", '+'},
     {"┤", '+'},  {"✓", '+'}, {"✔", '+'}, {"✗", 'x'}, {"✘", 'x'}, {"×", 'x'},
     {"·", '.'},  {"•", '*'}, {"→", '>'}, {"←", '<'}, {"›", '>'}, {"‹", '<'},
     {"“", '"'},  {"”", '"'}, {"„", '"'}, {"«", '"'}, {"»", '"'}, {"‘", '\''},
     {"’", '\''}, {"⏎", '/'}, {"▶", '>'}, {"▸", '>'}, {"↻", '*'}, {"␣", '_'},
     {"┄", '-'}}};

/// The frames of the spinner turn here, too.
bool is_braille(std::string_view character) {
  return character.size() == 3 && character[0] == '\xE2' &&
         static_cast<unsigned char>(character[1]) >= 0xA0 &&
         static_cast<unsigned char>(character[1]) <= 0xA3;
}

char ascii_of(std::string_view character) {
  const auto known = std::ranges::find(
      looks_like, character, &decltype(looks_like)::value_type::first);
  if (known != looks_like.end()) return known->second;
  if (is_braille(character))
    return "|/-\\"[static_cast<unsigned char>(character[2]) % 4];
  return base_letter(character).value_or('?');
}

}  // namespace

bool lacks_utf8(const char* lc_all, const char* lc_ctype, const char* lang) {
  for (const auto* x : {lc_all, lc_ctype, lang}) {
    if (x == nullptr || *x == '\0') continue;
    const auto name = lower(x);
    return name.find("utf-8") == name.npos && name.find("utf8") == name.npos;
  }
  return false;  // nothing is said, and nearly every terminal shows it
}

bool locale_lacks_utf8() {
  return lacks_utf8(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"),
                    std::getenv("LANG"));
}

std::string in_ascii(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    const auto x = first_shown(text);
    if (x.columns > 0) {
      out += ascii_of(text.substr(0, x.size));
      out.append(x.columns - 1, '?');
    }
    text.remove_prefix(x.size);
  }
  return out;
}

bool is_light(const char* colors) {
  if (colors == nullptr) return false;
  const std::string_view text{colors};
  const auto last = text.find_last_of(';');
  if (last == std::string_view::npos) return false;
  const auto background = text.substr(last + 1);
  return background == "7" || background == "15";
}

std::string in_light_colors(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2>
      changes{{{"\x1b[36m", "\x1b[34m"}, {"\x1b[2m", "\x1b[90m"}}};
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto at = std::min(text.find('\x1b'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    const auto found = std::ranges::find_if(
        changes, [&](const auto& x) { return text.starts_with(x.first); });
    if (found != changes.end()) {
      out += found->second;
      text.remove_prefix(found->first.size());
    } else if (!text.empty()) {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace riffle::cli
