// SPDX-License-Identifier: MIT
#pragma once

#include <caf/actor_system_config.hpp>

namespace riffle::cluster {

/// From then on CAF's id of a process is random, another one for each start.
/// CAF makes it of the machine's hardware addresses and the process's number:
/// two containers can have both in common, and such twins take each other for
/// themselves. After CAF's own modules are loaded.
void have_own_id(caf::actor_system_config& cfg);

}  // namespace riffle::cluster
