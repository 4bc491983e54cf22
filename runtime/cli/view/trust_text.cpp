// SPDX-License-Identifier: MIT
#include "runtime/cli/view/trust_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "tools/builtin/files/line_diff.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_blanks = 3;

struct code_range {
  char32_t first;
  char32_t last;
};

/// Blanks but ' ', and what has no width (Unicode: Zs, Zl, Zp, Cf).
constexpr std::array<code_range, 13> unseen{{{0xA0, 0xA0},
                                             {0xAD, 0xAD},
                                             {0x34F, 0x34F},
                                             {0x115F, 0x1160},
                                             {0x1680, 0x1680},
                                             {0x180B, 0x180E},
                                             {0x2000, 0x200F},
                                             {0x2028, 0x202F},
                                             {0x205F, 0x206F},
                                             {0x3000, 0x3000},
                                             {0x3164, 0x3164},
                                             {0xFEFF, 0xFEFF},
                                             {0xE0000, 0xE007F}}};

bool is_unseen(char32_t code) {
  return std::ranges::any_of(unseen, [code](const code_range& x) {
    return code >= x.first && code <= x.last;
  });
}

std::string exact_character(std::string_view bytes) {
  const auto c = first_character(bytes);
  if (c.valid && c.code == '\n') return "\\n";
  if (c.valid && c.code == '\t') return "\\t";
  if (!c.valid || !is_unseen(c.code)) return safe_text(bytes);
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "\\u{%04x}",
                static_cast<unsigned>(c.code));
  return name.data();
}

}  // namespace

std::string exact_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto blanks = std::min(text.find_first_not_of(' '), text.size());
    if (blanks > most_blanks)
      out += "␣×" + std::to_string(blanks) + " ";
    else
      out.append(blanks, ' ');
    text.remove_prefix(blanks);
    if (text.empty()) break;
    const auto size = first_character(text).size;
    out += exact_character(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

namespace {

constexpr std::size_t longest_name = 1000;
/// Of longer values the middle is left out, and it is said how much.
constexpr std::size_t longest_value = 2000;
constexpr std::size_t longest_diff = 64u << 10;

std::string name_of(const std::filesystem::path& x) {
  return safe_line(x.string(), longest_name);
}

/// Both ends of what is too long: what is dangerous may stand at either.
std::string ends_of(std::string_view text, std::size_t line, bool whole) {
  constexpr std::size_t end = longest_value / 2;
  if (whole || text.size() <= longest_value) return exact_line(text);
  const auto first = cut_utf8(text, end);
  const auto last = tail_utf8(text, end);
  auto out = exact_line(first) + " [… " +
             std::to_string(text.size() - first.size() - last.size()) + " of " +
             std::to_string(text.size()) + " bytes are not shown";
  if (line > 0) out += " (line " + std::to_string(line) + ")";
  return out + "] …" + exact_line(last);
}

std::string line_of(const config::set_key& x, bool whole) {
  return "│ " + ends_of(x.key, 0, whole) + " = " +
         ends_of(x.value, x.line, whole) + "\n";
}

std::string what_changed(const config::trust_state& x, bool whole) {
  const auto room =
      whole ? 4 * (x.before->text.size() + x.text.size()) + 1024 : longest_diff;
  const auto diff = tools::unified_diff(
      x.before->text, x.text,
      {.before = "trusted", .after = "now", .most_bytes = room});
  auto out = "It was changed since you trusted it on " +
             local_time(x.before->since) + ":\n";
  for_each_line(diff.text, [&](std::string_view line) {
    out +=
        "│ " + std::string{line.substr(0, 1)} +
        ends_of(line.substr(std::min<std::size_t>(1, line.size())), 0, whole) +
        "\n";
  });
  if (diff.cut) out += "│ … and more changes than are shown here\n";
  return out;
}

}  // namespace

std::string trust_text(const config::trust_state& x, bool whole) {
  auto out = name_of(x.file) +
             " lies in the folder; nobody named it, and it is not trusted.\n";
  if (x.before) out += what_changed(x, whole);
  if (!x.displaces.empty())
    out += "It takes the place of " + name_of(x.displaces) +
           ", with all rules, limits and models there.\n";
  if (x.keys.empty()) return out + "It sets nothing but harmless limits.\n";
  out +=
      "It sets what can run programs, read files, spend money, or send "
      "your key elsewhere:\n";
  for (const auto& key : x.keys) out += line_of(key, whole);
  return out + "Files that it names are not shown, and are trusted with it.\n";
}

std::string trust_question(const config::trust_state& x) {
  return x.before ? "Trust it as it is now?" : "Trust it as it is?";
}

}  // namespace riffle::cli
