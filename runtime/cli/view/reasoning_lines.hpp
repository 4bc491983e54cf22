// SPDX-License-Identifier: MIT
#pragma once

// What a model thinks, as lines that a person reads while it does. Pure.

#include <string>
#include <string_view>

namespace riffle::cli {

class reasoning_lines {
 public:
  explicit reasoning_lines(bool color) : color_{color} {}

  /// The next piece: the lines that it ends, each behind "[THINK] ".
  std::string on(std::string_view content);
  /// Something else comes: the line that is still open.
  std::string end();

 private:
  [[nodiscard]] std::string line(std::string_view text) const;

  bool color_;
  std::string open_;
};

}  // namespace riffle::cli
