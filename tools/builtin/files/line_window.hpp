// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/text.hpp"

namespace riffle::tools {

/// Takes some lines out of a stream of bytes in bounded memory. What is not
/// UTF-8 becomes U+FFFD.
class line_window {
 public:
  struct limits {
    std::uint64_t offset = 1;            ///< the first line to take, from 1
    std::optional<std::uint64_t> lines;  ///< most lines
    std::size_t bytes = 0;               ///< most bytes of text
    std::size_t line_bytes = 0;  ///< longer lines are cut; at most `bytes`
  };

  explicit line_window(limits x) : limits_{x} {}

  /// False when it needs no more.
  bool feed(std::string_view bytes);

  /// The same as `feed` of so many NUL bytes (a hole in a file).
  bool feed_zeros(std::uint64_t count);

  /// The stream ended: a last line without line end counts as one.
  void finish();

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Lines in `text`.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Complete lines that went by, and those taken.
  [[nodiscard]] std::uint64_t seen() const noexcept { return line_ - 1; }
  /// The first line that did not fit, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> next() const noexcept {
    return next_;
  }
  /// Whether bytes that are not UTF-8 were replaced.
  [[nodiscard]] bool replaced() const noexcept { return replaced_; }

 private:
  bool skip(std::string_view& bytes);
  bool take_line(bool ended);
  std::string rendered(bool ended);

  limits limits_;
  std::string text_;
  std::string current_;     ///< the line so far, at most `line_bytes`
  std::uint64_t cut_ = 0;   ///< bytes of the line beyond that
  std::uint64_t line_ = 1;  ///< number of the current line
  std::uint64_t taken_ = 0;
  std::optional<std::uint64_t> next_;
  bool open_ = false;  ///< the current line has bytes
  bool replaced_ = false;
};

}  // namespace riffle::tools
