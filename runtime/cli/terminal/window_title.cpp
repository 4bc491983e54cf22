// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/window_title.hpp"

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_title = 60;
constexpr auto between = std::chrono::seconds{1};
constexpr const char* keep = "\x1b[22;2t";

std::string text_of(const std::string& what) {
  return "riffle: " + safe_line(what, longest_title);
}

}  // namespace

window_title::~window_title() { step_aside(); }

void window_title::step_aside() {
  if (now_.empty()) return;
  now_.clear();
  screen_.write(title_of_before);
  leave_title(false);
}

void window_title::say(const std::string& what, bool at_once) {
  const auto at = std::chrono::steady_clock::now();
  if (!at_once && !now_.empty() && at - written_ < between) return;
  if (text_of(what) != now_) say_again(what);
}

void window_title::say_again(const std::string& what) {
  if (!on_) return;
  const bool first = now_.empty();
  if (first) leave_title(true);
  written_ = std::chrono::steady_clock::now();
  now_ = text_of(what);
  screen_.write(std::string{first ? keep : ""} + "\x1b]2;" + now_ + "\x1b\\");
}

}  // namespace riffle::cli
