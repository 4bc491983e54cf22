// SPDX-License-Identifier: MIT
#include "tests/support/terminals.hpp"

#include <pty.h>
#include <unistd.h>

namespace riffle::testing {

bool has_terminals() {
  static const bool found = [] {
    int ours = -1;
    int theirs = -1;
    if (::openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0) return false;
    ::close(ours);
    ::close(theirs);
    return true;
  }();
  return found;
}

}  // namespace riffle::testing
