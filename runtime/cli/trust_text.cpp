// SPDX-License-Identifier: MIT
#include "runtime/cli/trust_text.hpp"

#include <algorithm>

#include "runtime/cli/diff_lines.hpp"
#include "runtime/cli/safe_text.hpp"
#include "tools/builtin/line_diff.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_name = 1000;
/// Longer values are cut, and it is said how much is missing.
constexpr std::size_t longest_value = 2000;
constexpr std::size_t longest_diff = 64u << 10;

std::string name_of(const std::filesystem::path& x) {
  return safe_line(x.string(), longest_name);
}

std::string line_of(const config::set_key& x) {
  std::string out = "│ " + safe_line(x.key, longest_name) + " = " +
                    safe_line(x.value, longest_value);
  if (x.value.size() > longest_value)
    out += " (" + std::to_string(x.value.size()) + " bytes; line " +
           std::to_string(x.line) + ")";
  return out + "\n";
}

std::string what_changed(const config::judgement& x) {
  const auto diff = tools::unified_diff(
      x.before->text, x.text,
      {.before = "trusted", .after = "now", .most_bytes = longest_diff});
  auto out = "It was changed since you trusted it on " +
             to_string(x.before->since) + ":\n";
  for_each_line(diff.text, [&](std::string_view line) {
    out += "│ " + std::string{line.substr(0, 1)} +
           safe_line(line.substr(std::min<std::size_t>(1, line.size())),
                     longest_value) +
           "\n";
  });
  if (diff.cut) out += "│ … and more changes than are shown here\n";
  return out;
}

}  // namespace

std::string trust_text(const config::judgement& x) {
  auto out = name_of(x.file) +
             " lies in the folder; nobody named it, and it is not trusted.\n";
  if (x.before) out += what_changed(x);
  if (!x.displaces.empty())
    out += "It takes the place of " + name_of(x.displaces) + ".\n";
  if (x.keys.empty()) return out + "It sets nothing but harmless limits.\n";
  out +=
      "It sets what can run programs, read files, spend money, or send "
      "your key elsewhere:\n";
  for (const auto& key : x.keys) out += line_of(key);
  return out + "Files that it names are not shown, and are trusted with it.\n";
}

std::string trust_question(const config::judgement& x) {
  return x.before ? "Trust it as it is now?" : "Trust it as it is?";
}

}  // namespace riffle::cli
