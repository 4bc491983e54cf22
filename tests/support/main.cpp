// SPDX-License-Identifier: MIT
// The main function of the test programs that link the tools: each may be
// started as the guard of its own child processes.
#include "tests/support/session.hpp"
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  const int status = riffle::tools::run_guard_if_asked(argc, argv);
  return status != -1 ? status : riffle::testing::run_session(argc, argv);
}
