// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/fd_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include "runtime/cli/terminal/terminal_kind.hpp"

namespace riffle::cli {

fd_writer::fd_writer(int fd) noexcept
    : fd_{fd},
      terminal_{::isatty(fd) == 1},
      ascii_{terminal_ && locale_lacks_utf8()} {}

bool fd_writer::write(std::string_view text) {
  if (!ascii_ && !light_) return write_bytes(text);
  const auto shown = ascii_ ? in_ascii(text) : std::string{text};
  return write_bytes(light_ ? in_light_colors(shown) : shown);
}

bool fd_writer::write_bytes(std::string_view text) {
  // A pipe or terminal with room takes so much at once, without a wait.
  constexpr std::size_t piece = PIPE_BUF;
  while (good() && !text.empty()) {
    const bool limited = may_give_up();
    if (limited && !wait_for_room()) break;
    const auto size = limited ? std::min(text.size(), piece) : text.size();
    const auto n = ::write(fd_, text.data(), size);
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      wait_for_room();
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return good();
}

/// False: an error, or the reader was waited for too long.
bool fd_writer::wait_for_room() {
  using clock = std::chrono::steady_clock;
  constexpr int look = 100;  // milliseconds
  std::optional<clock::time_point> begin;
  for (;;) {
    pollfd x{fd_, POLLOUT, 0};
    const auto n = ::poll(&x, 1, look);
    if (n > 0) return true;  // or an error, which writing tells
    if (n < 0 && errno != EINTR) {
      error_ = errno;
      return false;
    }
    const auto now = clock::now();
    if (!begin) begin = now;
    if (gives_up(std::chrono::duration_cast<milliseconds>(now - *begin))) {
      error_ = ETIMEDOUT;
      return false;
    }
  }
}

bool fd_writer::may_give_up() const {
  const std::lock_guard lock{mutex_};
  return is_too_long_ != nullptr;
}

bool fd_writer::gives_up(milliseconds silent) const {
  const std::lock_guard lock{mutex_};
  return is_too_long_ && is_too_long_(silent);
}

bool fd_writer::closed() const noexcept { return error_ == EPIPE; }

std::string fd_writer::problem() const {
  if (good() || closed()) return {};
  if (error_ == ETIMEDOUT) return "nobody reads it";
  return std::generic_category().message(error_);
}

std::size_t fd_writer::columns() const noexcept {
  constexpr std::size_t usual = 80;
  if (!is_terminal()) return 0;
  winsize size{};
  const bool known = ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual;
}

std::size_t fd_writer::rows() const noexcept {
  constexpr std::size_t usual = 24;
  if (!is_terminal()) return 0;
  winsize size{};
  const bool known = ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : usual;
}

void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // open takes the lowest free number: this one.
    const int mode = fd == 0 ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) != fd) return;
  }
}

}  // namespace riffle::cli
