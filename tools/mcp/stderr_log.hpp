// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace riffle::mcp {

/// Writes what a server says on standard error to the log, a line each, with
/// its name: at most so many lines within a minute, each cut. Keeps the last
/// line, for who asks why it ended.
class stderr_log {
 public:
  static constexpr std::size_t lines_of_a_minute = 100;
  static constexpr std::size_t longest_line = 1000;

  explicit stderr_log(std::string name) : name_{std::move(name)} {}

  /// `minute`: any number that changes each minute.
  void append(std::string_view bytes, std::int64_t minute);
  void finish(std::int64_t minute);

  [[nodiscard]] const std::string& last_line() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  void end_line(std::int64_t minute);

  std::string name_;
  std::string line_;
  std::string last_;
  std::int64_t minute_ = -1;
  std::size_t written_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace riffle::mcp
