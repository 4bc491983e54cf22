// SPDX-License-Identifier: MIT
#pragma once

#include <caf/actor_system_config.hpp>

namespace riffle {

/// Makes CAF schedule by a policy of ours: one queue that all workers share,
/// and for each worker a short line of its own for the actors that were woken
/// by the actor it runs just now. A chunk of an answer passes several actors
/// one after the other; so they run one after the other on one worker, and no
/// second thread is woken and put to sleep again for each of them. (The "next
/// task" slot of the schedulers of Go and Tokio, for the same reason.)
///
/// Bounds: a few actors wait in a worker's line, and after some turns in a row
/// the rest goes to the shared queue, so that actors that keep each other busy
/// delay nobody.
void use_local_first(caf::actor_system_config& config);

}  // namespace riffle
