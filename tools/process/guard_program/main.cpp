// SPDX-License-Identifier: MIT
// The guard as a program of its own, which links no library that is loaded: it
// starts in a tenth of the time of a program that is Riffle. The library
// carries it, see small_guard.hpp.
#include "tools/process/guard.hpp"

int main(int argc, char** argv) {
  riffle::tools::run_guard_if_asked(argc, argv);
  return 2;  // it is started by Riffle alone
}
