// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>

namespace riffle::testing {

/// How often a test repeats what it does: `smoke` in `./dev test`, `quick` in
/// `./dev torture`, `full` in `./dev torture --full`.
inline int repetitions(int smoke, int quick, int full) {
  if (std::getenv("RIFFLE_TEST_FULL") != nullptr) return full;
  return std::getenv("RIFFLE_TORTURE") != nullptr ? quick : smoke;
}

}  // namespace riffle::testing
