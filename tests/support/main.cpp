// SPDX-License-Identifier: MIT
// The main function of the test programs that link the tools: each may be
// started as the guard of its own child processes, or to run a tool there.
#include "tests/support/session.hpp"
#include "tests/support/worker.hpp"
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  int status = riffle::tools::run_guard_if_asked(argc, argv);
  if (status == -1)
    status = riffle::tools::run_worker_if_asked(
        argc, argv, riffle::testing::worker_tools());
  return status != -1 ? status : riffle::testing::run_session(argc, argv);
}
