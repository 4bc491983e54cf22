// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::testing {

/// How much longer a wait of a test may take: the sanitizers make programs
/// several times slower, and a real process or socket keeps the time of the
/// clock. Only limits are scaled, never what a test promises.
#if defined(__SANITIZE_THREAD__)
inline constexpr int patience_factor = 8;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int patience_factor = 4;
#else
inline constexpr int patience_factor = 1;
#endif

/// `limit`, scaled.
template <class Duration>
[[nodiscard]] constexpr Duration patiently(Duration limit) {
  return limit * patience_factor;
}

}  // namespace riffle::testing
