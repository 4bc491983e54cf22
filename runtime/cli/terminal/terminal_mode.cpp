// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/terminal_mode.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include "runtime/cli/terminal/erasure.hpp"

namespace riffle::cli {

namespace {

// What a signal handler may touch.
std::atomic<int> kept_fd{-1};
termios kept{};
std::atomic<bool> reads_no_keys{false};
std::atomic<bool> is_lent{false};
std::atomic<leaving> last_words{leaving::nothing};
std::atomic<int> titles_kept{0};
std::array<char, 160> parting_words{};
std::atomic<std::size_t> parting_size{0};
static_assert(std::atomic<leaving>::is_always_lock_free);

std::atomic<int> continued{0};

extern "C" void riffle_on_continue(int) { ++continued; }

void watch_for_continue() noexcept {
  struct sigaction action{};
  action.sa_handler = riffle_on_continue;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGCONT, &action, nullptr);
}

/// Whoever ends at once waits for no reader that takes nothing.
void write_all(int fd, std::string_view text) {
  constexpr int longest = 300;  // milliseconds
  pollfd x{fd, POLLOUT, 0};
  if (text.empty() || ::poll(&x, 1, longest) <= 0) return;
  [[maybe_unused]] const auto n = ::write(fd, text.data(), text.size());
}

/// Those that end a process which does not catch them.
constexpr std::array deadly{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

extern "C" void riffle_on_death(int signal) {
  if (signal == SIGQUIT && is_lent) return;  // Ctrl-\ is for who has it
  if (signal == SIGINT || signal == SIGQUIT) forget_what_was_typed();
  leave_terminal();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// The signals that nobody has taken, or not any more.
void catch_deadly(bool on) noexcept {
  for (const int signal : deadly) {
    struct sigaction x{};
    ::sigaction(signal, nullptr, &x);
    if (x.sa_handler != (on ? SIG_DFL : riffle_on_death)) continue;
    x = {};
    x.sa_handler = on ? riffle_on_death : SIG_DFL;
    sigemptyset(&x.sa_mask);
    ::sigaction(signal, &x, nullptr);
  }
}

}  // namespace

terminal_mode::terminal_mode(int fd) : fd_{fd} {
  known_ = ::tcgetattr(fd, &found_) == 0;
  if (!known_) return;
  outer_ = kept_fd;
  // Both found the same terminal, in the same mode.
  if (outer_ < 0) kept = found_;
  kept_fd = fd;
  watch_for_continue();
  seen_ = continued;
}

terminal_mode::~terminal_mode() {
  set(typing_mode::lines);
  kept_fd = outer_;
}

void terminal_mode::set(typing_mode x) {
  const int seen = continued;
  if (!known_ || (x == now_ && seen == seen_)) return;
  const bool reads_keys = x == typing_mode::keys || x == typing_mode::raw;
  if (!reads_keys && !is_in_foreground(fd_)) return;
  auto how = found_;
  if (x == typing_mode::quiet)
    how.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
  if (x == typing_mode::lent || x == typing_mode::keys ||
      x == typing_mode::quiet)
    how.c_lflag |= static_cast<tcflag_t>(NOFLSH);
  if (reads_keys) {
    how.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    how.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON);
    how.c_cc[VMIN] = 1;
    how.c_cc[VTIME] = 0;
  }
  if (x == typing_mode::raw) how.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  // What was typed already stays, and counts.
  if (x != typing_mode::lines) catch_deadly(true);
  if (::tcsetattr(fd_, TCSADRAIN, &how) != 0) return;
  if (x == typing_mode::lines) catch_deadly(false);
  is_lent = x == typing_mode::lent;
  reads_no_keys = x == typing_mode::quiet || is_lent;
  now_ = x;
  seen_ = seen;
}

bool is_in_foreground(int fd) noexcept {
  const auto group = ::tcgetpgrp(fd);
  return group < 0 || group == ::getpgrp();
}

int times_continued() noexcept { return continued; }

void count_continues() noexcept { watch_for_continue(); }

void leave_screen_with(leaving x) noexcept { last_words = x; }

void leave_title(bool changed) noexcept { titles_kept += changed ? 1 : -1; }

void leave_with_words(std::string_view x) noexcept {
  parting_size = 0;
  const auto n = std::min(x.size(), parting_words.size());
  std::copy_n(x.data(), n, parting_words.data());
  parting_size = n;
}

namespace {

void say_parting_words() {
  write_all(STDERR_FILENO, {parting_words.data(), parting_size});
}

}  // namespace

void forget_what_was_typed() noexcept {
  const int fd = kept_fd;
  if (fd >= 0 && reads_no_keys && !is_lent && is_in_foreground(fd))
    ::tcflush(fd, TCIFLUSH);
}

void leave_terminal() noexcept {
  for (int i = titles_kept; i > 0; --i)
    write_all(STDERR_FILENO, title_of_before);
  switch (last_words) {
    case leaving::erases: write_all(STDERR_FILENO, erase_rows); break;
    case leaving::ends_line: write_all(STDERR_FILENO, "\n"); break;
    case leaving::ends_line_erases: write_all(STDERR_FILENO, "\x1b[J\n"); break;
    case leaving::nothing: break;
  }
  const int fd = kept_fd;
  if (fd < 0) return say_parting_words();
  if (is_in_foreground(fd)) ::tcsetattr(fd, TCSANOW, &kept);
  if (reads_no_keys) return say_parting_words();
  write_all(fd, erase_rows);
  write_all(fd, "\x1b[?2004l");
  say_parting_words();
}

}  // namespace riffle::cli
