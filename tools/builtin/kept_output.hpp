// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "messages/call.hpp"

namespace riffle::tools {

/// Keeps the beginning and the end of a text of any length in bounded memory.
/// All text is UTF-8.
class kept_output {
 public:
  /// At most about `cap` bytes are kept, half of them for the end.
  explicit kept_output(std::size_t cap);

  void append(std::string_view text);

  /// The text; if it was too long with a line in the middle that says how
  /// much is left out.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t lines() const noexcept;
  [[nodiscard]] bool truncated() const noexcept;

 private:
  std::size_t half_;
  std::string head_;
  std::string tail_;  ///< up to twice `half_` long, then shortened
  std::uint64_t bytes_ = 0;
  std::uint64_t line_ends_ = 0;
  bool open_line_ = false;
};

/// Makes progress reports of a stream of UTF-8: whole lines, as far as they
/// come; a piece of a line when it is long or nothing follows for a while.
class line_reporter {
 public:
  using sink = std::function<void(tool_progress_report)>;

  /// Longest message of a report, in bytes; the newest part is reported.
  static constexpr std::size_t longest = 4096;

  /// `stream`: "stdout" or "stderr". `report` may be empty.
  line_reporter(std::string stream, const sink& report);

  void append(std::string_view text);

  /// Reports what waits for the end of its line.
  void flush();

 private:
  void report(std::string_view text);

  std::string stream_;
  const sink& report_;
  std::string waiting_;
};

}  // namespace riffle::tools
