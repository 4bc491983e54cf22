// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/base/unique_fd.hpp"

namespace riffle::cli {

/// Writes to a file descriptor that it does not own. Whole texts, to a terminal
/// that shows no UTF-8 in ASCII; waits while the reader is slow. SIGPIPE must
/// be caught (see interrupts.hpp). Thread-safe but for `on_light`: lines of the
/// log come from any thread.
class fd_writer {
 public:
  using milliseconds = std::chrono::milliseconds;

  explicit fd_writer(int fd) noexcept;

  /// False once nothing more can be written, now or by an earlier call.
  bool write(std::string_view text);

  /// Its background is light, if it is a terminal.
  void on_light(bool x) noexcept { light_ = x && terminal_; }

  /// While the reader takes nothing, `f` is asked again and again; told how
  /// long that lasts, it says whether that is too long, on the thread that
  /// writes; never any more once this was called again. Without it, or with
  /// nothing, a reader is waited for without end. Returns what counted before.
  using patience = std::function<bool(milliseconds)>;
  patience give_up_if(patience f);

  /// The reader went away: no reason for a message.
  [[nodiscard]] bool closed() const noexcept;
  /// Why writing failed, for people; empty: it did not, or `closed`.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] bool good() const noexcept { return error_ == 0; }
  /// What `fd` was in the beginning; asked for each event, so looked up once.
  [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }
  /// Width of the terminal as it is now; 80 if it does not say, 0 if this is
  /// none.
  [[nodiscard]] std::size_t columns() const noexcept;
  /// Its height; 24 if it does not say, 0 if this is none.
  [[nodiscard]] std::size_t rows() const noexcept;

 private:
  using clock = std::chrono::steady_clock;

  bool write_bytes(std::string_view text);
  bool wait_for_room(clock::time_point since, bool full);
  [[nodiscard]] int limited_fd() const;
  [[nodiscard]] bool gives_up(milliseconds silent) const;

  int fd_;
  bool terminal_;
  bool ascii_;  ///< a terminal that shows nothing else
  bool light_ = false;
  mutable std::mutex mutex_;  ///< of the next two
  patience is_too_long_;
  unique_fd unblocked_;         ///< the same terminal, which makes nobody wait
  std::atomic<int> error_ = 0;  ///< errno of the failure
};

/// Opens those of the descriptors 0, 1 and 2 that are closed, so that no
/// database or socket gets their numbers. Writing to them still fails.
void open_standard_descriptors();

}  // namespace riffle::cli
