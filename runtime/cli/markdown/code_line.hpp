// SPDX-License-Identifier: MIT
#pragma once

// How a line of code in a fence is coloured: as code in a line is, its comment
// dim, and a diff as anywhere. No grammar of a language. Pure.

#include <string_view>
#include <vector>

namespace riffle::cli {

struct painted_part {
  std::string_view text;
  std::string_view paint;

  bool operator==(const painted_part&) const = default;
};

/// `language`: as the fence names it, or nothing.
std::vector<painted_part> painted_code(std::string_view line,
                                       std::string_view language);

}  // namespace riffle::cli
