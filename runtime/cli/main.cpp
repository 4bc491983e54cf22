// SPDX-License-Identifier: MIT
#include "runtime/api/worker_main.hpp"
#include "runtime/cli/cli.hpp"

/// Read by jemalloc, where it is the heap (RIFFLE_JEMALLOC). Few arenas: a
/// process has a few threads that work at a time and many that wait. What is
/// free goes back to the system after a second, while it works.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf =
    "narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0,abort_conf:false";
}

int main(int argc, char** argv) {
  // Started as a child of itself, for a tool: nothing else may happen.
  const int child = riffle::worker_main(argc, argv);
  return child >= 0 ? child : riffle::riffle_main(argc, argv);
}
