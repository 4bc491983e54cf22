// SPDX-License-Identifier: MIT
#include "runtime/api/worker_main.hpp"
#include "runtime/cli/cli.hpp"

int main(int argc, char** argv) {
  // Started as a child of itself, for a tool: nothing else may happen.
  const int child = riffle::worker_main(argc, argv);
  return child >= 0 ? child : riffle::riffle_main(argc, argv);
}
