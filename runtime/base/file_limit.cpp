// SPDX-License-Identifier: MIT
#include "runtime/base/file_limit.hpp"

#include <csignal>

namespace riffle {

namespace {

extern "C" void riffle_on_file_limit(int /*signal*/) {}

}  // namespace

void outlive_file_limit() noexcept {
  struct sigaction action{};
  action.sa_handler = riffle_on_file_limit;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace riffle
