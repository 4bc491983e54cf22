// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/terminal_mode.hpp"

#include <atomic>
#include <string_view>
#include <unistd.h>

namespace riffle::cli {

namespace {

// What a signal handler may touch.
std::atomic<int> kept_fd{-1};
termios kept{};

}  // namespace

terminal_mode::terminal_mode(int fd) : fd_{fd} {
  known_ = ::tcgetattr(fd, &found_) == 0;
  if (!known_) return;
  kept = found_;
  kept_fd = fd;
}

terminal_mode::~terminal_mode() {
  set(typing_mode::lines);
  kept_fd = -1;
}

void terminal_mode::set(typing_mode x) {
  if (!known_ || x == now_) return;
  auto how = found_;
  if (x != typing_mode::lines) {
    how.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    how.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON);
    how.c_cc[VMIN] = 1;
    how.c_cc[VTIME] = 0;
  }
  if (x == typing_mode::raw) how.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  // What was typed already stays, and counts.
  if (::tcsetattr(fd_, TCSADRAIN, &how) == 0) now_ = x;
}

void leave_terminal() noexcept {
  const int fd = kept_fd;
  if (fd < 0) return;
  ::tcsetattr(fd, TCSANOW, &kept);
  constexpr std::string_view clean = "\r\x1b[J\x1b[?2004l";
  [[maybe_unused]] const auto n = ::write(fd, clean.data(), clean.size());
}

}  // namespace riffle::cli
