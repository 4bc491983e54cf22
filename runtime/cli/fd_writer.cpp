// SPDX-License-Identifier: MIT
#include "runtime/cli/fd_writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

namespace riffle::cli {

bool fd_writer::write(std::string_view text) {
  while (good() && !text.empty()) {
    const auto n = ::write(fd_, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (!wait_for_room()) error_ = errno;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return good();
}

bool fd_writer::wait_for_room() const {
  // Somebody made it non-blocking: wait, and look again each second.
  constexpr int milliseconds = 1000;
  pollfd x{fd_, POLLOUT, 0};
  return ::poll(&x, 1, milliseconds) >= 0 || errno == EINTR;
}

bool fd_writer::closed() const noexcept { return error_ == EPIPE; }

std::string fd_writer::problem() const {
  if (good() || closed()) return {};
  return std::generic_category().message(error_);
}

bool fd_writer::is_terminal() const noexcept { return ::isatty(fd_) == 1; }

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
