// SPDX-License-Identifier: MIT
#pragma once

// A plan that was stopped goes on as a new one, whose id follows from its own:
// so no two can begin, and from any of them the newest is found.

#include <optional>
#include <vector>

#include "actors/run/run_spec.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// By a person or a signal: it ended before it had failed or completed.
[[nodiscard]] bool is_stopped_plan(const storage::run_record& x) noexcept;

/// The one that goes on from it, if there is one.
[[nodiscard]] run_id next_plan(const run_id& plan);

/// This plan and all that go on from it, one from the other, the newest last.
expected<std::vector<run_id>> plans_from(storage::session_records& from,
                                         const run_id& plan);

/// Where all of these go on one from the other: the newest that does.
std::optional<run_id> newest_of_family(storage::session_records& from,
                                       const std::vector<run_id>& plans);

/// How its steps ended. Not the last one, which is run again, if it was cut, or
/// has failed where the plan would not go on behind that; but if `behind_it`.
/// `steps`: of its document. Blocks. Fails with `not_found` if what one of them
/// said has been deleted, `invalid_request` if all that they said is over
/// 64 MiB, which the new log takes in one commit, `storage_corrupt`.
expected<std::vector<kept_step>> steps_of_stopped(
    storage::journal& from, const run_id& plan,
    const std::vector<core::planned_step>& steps, bool behind_it);

}  // namespace riffle::service
