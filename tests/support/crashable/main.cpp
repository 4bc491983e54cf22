// SPDX-License-Identifier: MIT
// The riffle program over a file layer that kills the process at a chosen
// operation on the journal's files (tests/support/crash_vfs.hpp), or with a
// fault in one of its actors:
// RIFFLE_TEST_THROW_IN=H  the first call of handler H ("actor.handler") throws
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "runtime/cli/cli.hpp"
#include "runtime/node/node.hpp"
#include "tests/support/crash_vfs.hpp"
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  if (const int status = riffle::tools::run_guard_if_asked(argc, argv);
      status >= 0)
    return status;
  riffle::testing::install_crash_vfs();
  if (const char* where = std::getenv("RIFFLE_TEST_THROW_IN"))
    riffle::node::faults_for_tests = [where](const std::string& handler) {
      static std::atomic<bool> done = false;
      if (handler == where && !done.exchange(true))
        throw std::runtime_error{"a fault of the test"};
    };
  return riffle::riffle_main(argc, argv);
}
