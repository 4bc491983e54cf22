// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::testing {

/// How much longer a wait of a test may take: the sanitizers make programs
/// several times slower, and a real process or socket keeps the time of the
/// clock. Only limits are scaled, never what a test promises.
#if defined(__SANITIZE_THREAD__)
inline constexpr int time_scale = 8;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int time_scale = 4;
#else
inline constexpr int time_scale = 1;
#endif

/// `limit`, scaled.
template <class Duration>
[[nodiscard]] constexpr Duration scaled(Duration limit) {
  return limit * time_scale;
}

}  // namespace riffle::testing
