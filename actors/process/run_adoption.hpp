// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "actors/process/registry_messages.hpp"

namespace riffle {

/// Waits until nothing of a call of a dead runtime acts any more. May block.
using guard_waiter =
    std::function<std::optional<error>(const storage::call_record&)>;

/// Makes a run this process's, once nothing of its open calls acts any more
/// (but for those that this process knows to). May block for long, so it runs
/// on a blocking executor. If it fails the run is not this process's by it,
/// unless it says so (`left_here`).
opened_run adopt_run(storage::journal& journal, const adopt_run_request& x,
                     const guard_waiter& wait_for_guard);

}  // namespace riffle
