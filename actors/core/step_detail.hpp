// SPDX-License-Identifier: MIT
#pragma once

// Shared by the two halves of the step machine; private to them.

#include <chrono>
#include <cstdint>

#include "messages/time.hpp"

namespace riffle::core::step_detail {

inline constexpr const char* op = "orchestrator";

inline std::uint64_t to_ms(duration x) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(x).count());
}

}  // namespace riffle::core::step_detail
