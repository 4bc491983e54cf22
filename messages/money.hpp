// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace riffle {

/// To a ten-billionth of a dollar, so that a sum of prices is 2.442 and not
/// 2.4419999999999997. What a double does not hold that exactly stays.
inline double rounded_usd(double x) noexcept {
  constexpr double parts = 1e10;
  constexpr double most = 9e5;  // times `parts` about 2^53
  return std::abs(x) < most ? std::round(x * parts) / parts : x;
}

}  // namespace riffle
