// SPDX-License-Identifier: MIT
#include "runtime/base/clock.hpp"

namespace riffle {

wall_time system_wall_time() {
  using namespace std::chrono;
  return {duration_cast<microseconds>(system_clock::now().time_since_epoch())
              .count()};
}

}  // namespace riffle
