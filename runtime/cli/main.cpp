// SPDX-License-Identifier: MIT
#include "runtime/cli/cli.hpp"
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  // Started as the guard of a tool's process: nothing else may happen.
  const int guard = riffle::tools::run_guard_if_asked(argc, argv);
  return guard >= 0 ? guard : riffle::riffle_main(argc, argv);
}
