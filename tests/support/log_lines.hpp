// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"

namespace riffle::testing {

/// Keeps what is logged while it lives, as "level op: message".
class log_lines {
 public:
  explicit log_lines(std::string_view level) {
    init_log(level, "text");
    set_log_sink([this](const log_line& x) {
      const std::lock_guard lock{mutex_};
      lines_.push_back(std::string{to_string(x.level)} + " " +
                       std::string{x.op} + ": " + std::string{x.message});
    });
  }
  ~log_lines() {
    set_log_sink({});
    init_log("warn", "text");
  }
  log_lines(const log_lines&) = delete;
  log_lines& operator=(const log_lines&) = delete;

  /// Lines that contain `part`.
  [[nodiscard]] std::vector<std::string> with(std::string_view part) const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> found;
    for (const auto& line : lines_)
      if (line.find(part) != std::string::npos) found.push_back(line);
    return found;
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock{mutex_};
    std::string all;
    for (const auto& line : lines_) all += line + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace riffle::testing
