// SPDX-License-Identifier: MIT
#include "runtime/cli/view/shell_text.hpp"

#include <algorithm>
#include <array>

#include "actors/core/context_window.hpp"
#include "runtime/base/text.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view apart = "\n\n";
constexpr std::string_view ran = "The user ran this command: ";
constexpr std::string_view ran_at_terminal =
    "The user ran this command at the terminal: ";
constexpr std::string_view status_line = "\nexit status ";
constexpr std::string_view wrote = ", output:\n";
constexpr std::string_view showed = "; what it showed is not known.";

struct told_head {
  std::string_view command{};
  std::size_t size = 0;  ///< with all that stands before the output
};

std::optional<told_head> head_of(std::string_view context) {
  const bool at_terminal = context.starts_with(ran_at_terminal);
  if (!at_terminal && !context.starts_with(ran)) return std::nullopt;
  const auto from = at_terminal ? ran_at_terminal.size() : ran.size();
  const auto status = context.find(status_line, from);
  if (status == context.npos) return std::nullopt;
  const auto command = context.substr(from, status - from);
  const auto digits = status + status_line.size();
  const auto end =
      std::min(context.find_first_not_of("0123456789", digits), context.size());
  const auto behind = at_terminal ? showed : wrote;
  if (end == digits || !context.substr(end).starts_with(behind) ||
      command.find(ran) != command.npos)
    return std::nullopt;
  return told_head{command, end + behind.size()};
}

}  // namespace

std::string shell_context(std::string_view command, int status,
                          std::string_view output) {
  return std::string{ran}
      .append(command)
      .append(status_line)
      .append(std::to_string(status))
      .append(wrote)
      .append(output);
}

std::string terminal_context(std::string_view command, int status) {
  return std::string{ran_at_terminal}
      .append(command)
      .append(status_line)
      .append(std::to_string(status))
      .append(showed);
}

std::size_t find_told(std::string_view context) {
  for (auto at = context.find(apart); at != context.npos;
       at = context.find(apart, at + 1))
    if (head_of(context.substr(at + apart.size()))) return at + apart.size();
  return context.npos;
}

std::optional<told_command> first_told(std::string_view context) {
  const auto head = head_of(context);
  if (!head) return std::nullopt;
  const auto next = find_told(context.substr(head->size));
  const auto size =
      next == context.npos ? context.size() : head->size + next - apart.size();
  return told_command{head->command,
                      context.substr(head->size, size - head->size), size};
}

std::string read_by_model(std::string_view told, std::uint64_t wrote) {
  constexpr std::size_t little = 4u << 10;
  const bool whole = told.size() >= wrote;
  if (whole && told.size() <= little) return {};
  const auto tokens =
      " (about " + short_count(core::estimate_tokens(told)) + " tokens)";
  if (whole)
    return "The model reads these " + short_size(wrote) +
           " with your next words" + tokens + ".";
  const auto half = short_size(told.size() / 2);
  return "The model reads the first and the last " + half + " of these " +
         short_size(wrote) + " with your next words" + tokens + ".";
}

bool only_changes_folder(std::string_view command) {
  const auto x = trimmed(command);
  if (x.find_first_of(";&|<>`\n") != x.npos || x.find("$(") != x.npos)
    return false;
  return x == "cd" || x.starts_with("cd ") || x.starts_with("cd\t");
}

}  // namespace riffle::cli
