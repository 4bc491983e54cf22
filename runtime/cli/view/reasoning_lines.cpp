// SPDX-License-Identifier: MIT
#include "runtime/cli/view/reasoning_lines.hpp"

#include <utility>

#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_thought = 4000;

}  // namespace

std::string reasoning_lines::line(std::string_view text) const {
  const auto safe = safe_line(text, longest_thought);
  if (safe.empty()) return {};
  return color_ ? "\x1b[2m[THINK] " + safe + "\x1b[0m\n"
                : "[THINK] " + safe + "\n";
}

std::string reasoning_lines::on(std::string_view content) {
  open_ += content;
  std::string out;
  std::size_t end = 0;
  while ((end = open_.find('\n')) != std::string::npos ||
         open_.size() > longest_thought) {
    out += line(std::string_view{open_}.substr(0, end));
    open_.erase(0, end == std::string::npos ? end : end + 1);
  }
  return out;
}

std::string reasoning_lines::end() { return line(std::exchange(open_, {})); }

}  // namespace riffle::cli
