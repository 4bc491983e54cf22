// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/fd_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

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

fd_writer::patience fd_writer::give_up_if(patience f) {
  const std::lock_guard lock{mutex_};
  // One of our own: the mode of `fd_` is that of other programs, too.
  if (f && terminal_ && !unblocked_)
    unblocked_ =
        unique_fd{::open(("/proc/self/fd/" + std::to_string(fd_)).c_str(),
                         O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
  return std::exchange(is_too_long_, std::move(f));
}

bool fd_writer::write_bytes(std::string_view text) {
  // A pipe with room takes so much at once, without a wait.
  constexpr std::size_t piece = PIPE_BUF;
  auto taken = clock::now();
  bool full = false;
  while (good() && !text.empty()) {
    const int limited = limited_fd();
    if ((limited >= 0 || full) && !wait_for_room(taken, full)) break;
    const auto size = limited >= 0 ? std::min(text.size(), piece) : text.size();
    const auto n = ::write(limited >= 0 ? limited : fd_, text.data(), size);
    full = n < 0 && errno == EAGAIN;
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
      taken = clock::now();
    } else if (errno != EINTR && errno != EAGAIN) {
      error_ = errno;
    }
  }
  return good();
}

/// False: an error, or the reader was waited for too long. `full`: it took
/// nothing, whatever is said of room: a terminal has some that is too small.
bool fd_writer::wait_for_room(clock::time_point since, bool full) {
  constexpr int look = 100;  // milliseconds
  constexpr int short_look = 10;
  for (;;) {
    pollfd x{fd_, POLLOUT, 0};
    const auto n = ::poll(&x, 1, look);
    if (n > 0 && !full) return true;  // or an error, which writing tells
    if (n > 0) ::poll(nullptr, 0, short_look);
    if (n < 0 && errno != EINTR) {
      error_ = errno;
      return false;
    }
    if (gives_up(
            std::chrono::duration_cast<milliseconds>(clock::now() - since))) {
      error_ = ETIMEDOUT;
      return false;
    }
    if (n > 0) return true;
  }
}

/// Where nothing waits without end; -1: it may.
int fd_writer::limited_fd() const {
  const std::lock_guard lock{mutex_};
  if (!is_too_long_) return -1;
  return unblocked_ ? unblocked_.get() : fd_;
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
