// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/storage/records.hpp"

namespace riffle::storage {

/// A run that was interrupted goes on: that is a use of its session, too. Says
/// so in its settings; those that are no object stay as they are.
void note_resumption(run_record& x, wall_time now);

/// When a run began or, if it was resumed, last went on.
wall_time last_use(const run_record& x);

}  // namespace riffle::storage
