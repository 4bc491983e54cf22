// SPDX-License-Identifier: MIT
#include "runtime/cli/view/trust_text.hpp"

#include <algorithm>

#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "tools/builtin/files/line_diff.hpp"

namespace riffle::cli {

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
  if (whole || text.size() <= longest_value)
    return safe_line(text, text.size() + 1);
  const auto first = cut_utf8(text, end);
  const auto last = tail_utf8(text, end);
  auto out = safe_line(first, end + 1) + " [… " +
             std::to_string(text.size() - first.size() - last.size()) + " of " +
             std::to_string(text.size()) + " bytes are not shown";
  if (line > 0) out += " (line " + std::to_string(line) + ")";
  return out + "] …" + safe_line(last, end + 1);
}

std::string line_of(const config::set_key& x, bool whole) {
  return "│ " + safe_line(x.key, longest_name) + " = " +
         ends_of(x.value, x.line, whole) + "\n";
}

std::string what_changed(const config::trust_state& x, bool whole) {
  const auto room =
      whole ? 4 * (x.before->text.size() + x.text.size()) + 1024 : longest_diff;
  const auto diff = tools::unified_diff(
      x.before->text, x.text,
      {.before = "trusted", .after = "now", .most_bytes = room});
  auto out = "It was changed since you trusted it on " +
             to_string(x.before->since) + ":\n";
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
    out += "It takes the place of " + name_of(x.displaces) + ".\n";
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
