// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/window_title.hpp"

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_title = 60;
constexpr auto between = std::chrono::seconds{1};
constexpr const char* keep = "\x1b[22;2t";

}  // namespace

window_title::~window_title() {
  if (now_.empty()) return;
  screen_.write(title_of_before);
  leave_title(false);
}

void window_title::say(const std::string& what) {
  const auto at = std::chrono::steady_clock::now();
  if (!on_ || (!now_.empty() && at - written_ < between)) return;
  auto title = "riffle: " + safe_line(what, longest_title);
  if (title == now_) return;
  const bool first = now_.empty();
  leave_title(true);
  written_ = at;
  now_ = std::move(title);
  screen_.write(std::string{first ? keep : ""} + "\x1b]2;" + now_ + "\x1b\\");
}

}  // namespace riffle::cli
