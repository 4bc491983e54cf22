// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "messages/time.hpp"

namespace riffle {

/// Where wall time comes from; only for what people read (timestamps).
using wall_clock = std::function<wall_time()>;

/// The system's wall clock.
wall_time system_wall_time();

}  // namespace riffle
