// SPDX-License-Identifier: MIT
#pragma once

// When the time of a simulated test begins: late enough to look back from.

#include "messages/time.hpp"

namespace riffle::testing {

inline constexpr time_point t0 = time_point{} + std::chrono::seconds{1000};

}  // namespace riffle::testing
