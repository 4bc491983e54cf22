// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "messages/call.hpp"

namespace riffle::tools {

/// Makes progress of what a program writes to standard error: a line that is a
/// JSON object like
///
///     {"progress": 0.5, "total": 1, "message": "half of it"}
///
/// (each key may be left out, but not all three) is a report; other lines are
/// its log, reported as lines of the stream "stderr", or as pieces of a line
/// whose end is long in coming. Bounded: of a longer line the first 4 KiB
/// count, of the whole log the last 2 KiB are kept.
class stderr_lines {
 public:
  using sink = std::function<void(tool_progress_report)>;

  static constexpr std::size_t longest_line = 4096;
  static constexpr std::size_t kept_log = 2048;

  /// `report` may be empty.
  explicit stderr_lines(const sink& report) : report_{report} {}

  void append(std::string_view text);  ///< UTF-8
  /// Reports what waits for the end of its line, unless it may be a report.
  void flush();
  void finish();  ///< a line without an end

  /// The end of the log, without blanks around it.
  [[nodiscard]] std::string log() const;

 private:
  void end_line();

  const sink& report_;
  std::string line_;
  std::string unsaid_;      ///< what of the line was not reported: its end
  bool in_pieces_ = false;  ///< a piece of the line was reported
  std::string log_;
};

}  // namespace riffle::tools
