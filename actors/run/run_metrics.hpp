// SPDX-License-Identifier: MIT
#pragma once

#include "messages/event.hpp"

namespace riffle {

/// Measures what an event of a run or a plan says (runtime/base/metrics.hpp):
/// the one place where events become metrics. Called once for each event, as
/// it is written; costs a load of an atomic where nobody reads.
void measure_event(const events::body& x) noexcept;

}  // namespace riffle
