// SPDX-License-Identifier: MIT
#include "runtime/cli/view/own_command.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/chat_line.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view mark = "$ARGUMENTS";
constexpr std::string_view fence = "---";
constexpr std::string_view description = "description:";

/// Takes a line, with its end, off the front.
std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(line);
}

/// "key: value", or what goes on with the line above it.
bool is_of_head(std::string_view raw) {
  if (raw.starts_with(' ') || raw.starts_with('\t') || trimmed(raw).empty())
    return true;
  const auto key = raw.substr(0, raw.find(':'));
  return key.size() < raw.size() && !key.empty() &&
         key.find_first_of(" \t") == key.npos;
}

/// What stands behind the key: of a text below it (">", "|") its first line.
std::string_view value_of(std::string_view behind, std::string_view rest) {
  constexpr std::string_view begins_below = ">|";
  const auto value = trimmed(behind);
  const bool below = !value.empty() && value.size() <= 2 &&
                     begins_below.find(value.front()) != begins_below.npos;
  if (!below) return trimmed(value, " \t\"'");
  const bool indented = rest.starts_with(' ') || rest.starts_with('\t');
  return indented ? next_line(rest) : std::string_view{};
}

/// Takes the head off, if it is one; what it says the text is about.
std::string_view take_head(std::string_view& text) {
  auto rest = text;
  if (next_line(rest) != fence) return {};
  std::string_view about;
  while (!rest.empty()) {
    const auto raw = rest.substr(0, rest.find('\n'));
    const auto line = next_line(rest);
    if (line == fence) {
      text = rest;
      return about;
    }
    if (!is_of_head(raw)) return {};
    if (raw.starts_with(description))
      about = value_of(raw.substr(description.size()), rest);
  }
  return {};
}

std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const auto line = trimmed(next_line(text), "# \t");
    if (!line.empty()) return line;
  }
  return {};
}

}  // namespace

own_text parse_own(std::string_view file) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (file.starts_with(byte_order_mark))
    file.remove_prefix(byte_order_mark.size());
  const auto said = take_head(file);
  return {std::string{said.empty() ? first_line(file) : said},
          std::string{trimmed(file)}};
}

std::optional<std::string> fill_in(std::string_view task,
                                   std::string_view arguments) {
  std::size_t marks = 0;
  for (auto at = task.find(mark); at != task.npos;
       at = task.find(mark, at + mark.size()))
    ++marks;
  const auto times = std::max<std::size_t>(marks, 1);
  if (task.size() > most_filled ||
      arguments.size() > (most_filled - task.size()) / times)
    return std::nullopt;
  std::string out;
  for (auto at = task.find(mark); at != task.npos; at = task.find(mark)) {
    out.append(task.substr(0, at)).append(arguments);
    task.remove_prefix(at + mark.size());
  }
  out += task;
  if (marks == 0 && !arguments.empty()) out.append("\n\n").append(arguments);
  return out;
}

std::string own_help_text(std::span<const own_help> all) {
  std::string out;
  for (const auto& x : all.first(std::min(all.size(), most_own_listed))) {
    auto left = "/" + safe_line(x.name, 40);
    left.resize(std::max(help_width, left.size() + 1), ' ');
    out += "  " + left + safe_line(x.about, 80) + " (" +
           safe_line(x.from, 200) + ")\n";
  }
  if (all.size() > most_own_listed)
    out += "  … " + std::to_string(all.size() - most_own_listed) +
           " more: type / and a letter, then Tab\n";
  return out;
}

}  // namespace riffle::cli
