// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/tool.hpp"

namespace riffle::tools {

/// Reports lines as progress while they are found: the first at once, then
/// together what came in a while.
class match_report {
 public:
  explicit match_report(const tool_context& context) : context_{context} {}

  void add(std::string_view line);
  /// Reports what waits, if it has waited long enough.
  void tick();
  /// Reports a sign of life, if nothing was reported for a second.
  void working(std::uint64_t files);
  void flush();

 private:
  const tool_context& context_;
  std::string waiting_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace riffle::tools
