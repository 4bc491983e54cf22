// SPDX-License-Identifier: MIT
#include "tests/support/worker.hpp"

namespace riffle::testing {

tools::tool_maker& worker_tools() {
  static tools::tool_maker maker;
  return maker;
}

}  // namespace riffle::testing
