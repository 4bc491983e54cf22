// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::testing {

/// Runs the tests of this program by Catch2's arguments. At the end it prints
/// `riffle-cases: P passed, F failed, S skipped`, which ./dev adds up.
int run_session(int argc, char** argv);

}  // namespace riffle::testing
