// SPDX-License-Identifier: MIT
// The riffle program over a file layer that kills the process at a chosen
// operation on the journal's files (tests/support/crash_vfs.hpp).
#include "runtime/cli/cli.hpp"
#include "tests/support/crash_vfs.hpp"
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  if (const int status = riffle::tools::run_guard_if_asked(argc, argv);
      status >= 0)
    return status;
  riffle::testing::install_crash_vfs();
  return riffle::riffle_main(argc, argv);
}
