// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "messages/call.hpp"
#include "tools/kept_file.hpp"

namespace riffle::tools {

/// Keeps the beginning and the end of a text of any length in bounded memory,
/// and the whole in a file once it is too long. All text is UTF-8.
class output_spool {
 public:
  /// At most about `cap` bytes are kept, half of them for the end.
  /// `file`: of the whole; empty: the middle is lost.
  explicit output_spool(std::size_t cap, std::filesystem::path file = {});

  void append(std::string_view text);

  /// The text; if it was too long with a line in the middle that says how
  /// much is left out.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t lines() const noexcept;
  [[nodiscard]] bool truncated() const noexcept;
  /// Where the whole of a truncated text is.
  [[nodiscard]] const kept_file_writer& whole() const noexcept {
    return whole_;
  }

 private:
  std::size_t half_;
  std::string head_;
  std::string tail_;  ///< up to twice `half_` long, then shortened
  std::uint64_t bytes_ = 0;
  std::uint64_t line_ends_ = 0;
  bool open_line_ = false;
  bool spilled_ = false;
  kept_file_writer whole_;
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
