// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::testing {

/// A new seed for the running test case, printed at once: who looks at a log
/// later can repeat what passed as well as what failed. $RIFFLE_TEST_SEED is
/// taken instead if it is set.
unsigned fresh_seed();

}  // namespace riffle::testing
