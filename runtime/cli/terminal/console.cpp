// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"

namespace riffle::cli {

void console::complain(std::string_view message) {
  const auto text = "riffle: " + safe_text(message) + "\n";
  const auto command = text.rfind(": riffle ");
  if (err.columns() == 0 || command == std::string::npos) return say(text);
  const auto behind = command + 2;
  say(text.substr(0, behind - 1) + "\n");
  err.write("  " + text.substr(behind));
}

void console::say(std::string_view text) {
  err.write(wrap_lines(text, err.columns()));
}

void console::complain_of_output() {
  const auto why = out.problem();
  if (why.empty() || std::exchange(told_of_output, true)) return;
  complain("standard output cannot be written: " + why);
}

int report(const std::vector<config::mistake>& mistakes, console& io,
           std::string_view effect) {
  for (const auto& x : mistakes) io.say(safe_text(config::render(x)) + "\n");
  const auto n = mistakes.size();
  io.complain((n == 1 ? "1 mistake" : std::to_string(n) + " mistakes") +
              " in the configuration, " + std::string{effect});
  return usage;
}

int report(const error& x, console& io) {
  // Behind several lines it would look like a part of the last one.
  const bool one_line = x.message.find('\n') == std::string::npos;
  io.complain(x.message + (one_line ? " (" : "\n(") +
              std::string{to_string(x.code)} + ")");
  return status_of(x.code);
}

}  // namespace riffle::cli
