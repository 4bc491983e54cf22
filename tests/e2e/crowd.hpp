// SPDX-License-Identifier: MIT
#pragma once

// Very many clients that read streams of events, in one thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/unique_fd.hpp"

namespace riffle::testing {

/// What came to one of them.
struct crowd_member {
  ::riffle::unique_fd fd{};
  std::uint64_t last = 0;  ///< number of the last event; 0: none came
  std::uint64_t events = 0;
  std::uint64_t wrong = 0;  ///< numbers that were not the next one
  std::uint64_t bytes = 0;
  bool refused = false;                          ///< no 200 came
  bool finished = false;                         ///< its run's last event came
  bool ended = false;                            ///< the connection did
  bool stopped = false;                          ///< it reads nothing
  std::chrono::steady_clock::time_point came{};  ///< the last event
  std::chrono::milliseconds largest_gap{};       ///< between two events

  std::string tail{};         ///< behind the last line's end
  std::uint64_t pending = 0;  ///< number of the event that is coming
  bool opened = false;
};

class crowd {
 public:
  using milliseconds = std::chrono::milliseconds;

  /// Files as many as the system lets this process, and what it starts, open.
  static void raise_limit();

  explicit crowd(std::uint16_t port, std::string token, std::string path);

  /// `receive_buffer`: of the kernel, in bytes; 0: its own choice.
  void add(std::size_t n, int receive_buffer = 0);
  /// These read nothing from now on.
  void stop(std::size_t first, std::size_t n);
  /// They read again.
  void go_on(std::size_t first, std::size_t n);
  /// All connections end at once; what came to each stays known.
  void cut();
  /// Each whose run has not finished for it comes again behind its last event,
  /// spread over this time.
  void come_again(milliseconds over);
  /// Reads until `done` or the limit; false then.
  bool read(milliseconds limit, const std::function<bool()>& done);
  /// Reads this long.
  void read_for(milliseconds time);
  void forget_gaps();

  [[nodiscard]] const std::vector<crowd_member>& all() const noexcept {
    return all_;
  }
  [[nodiscard]] std::size_t count(
      const std::function<bool(const crowd_member&)>& of) const;
  [[nodiscard]] std::uint64_t wrong() const;
  [[nodiscard]] milliseconds largest_gap() const;

 private:
  void open(crowd_member& x, int receive_buffer);
  void watch(std::size_t i);
  void arrived(crowd_member& x);
  void take(crowd_member& x, std::string_view bytes);
  void line(crowd_member& x, std::string_view text);
  void read_once(milliseconds limit);

  std::uint16_t port_;
  std::string token_;
  std::string path_;
  ::riffle::unique_fd poll_;
  std::vector<crowd_member> all_;
};

}  // namespace riffle::testing
