// SPDX-License-Identifier: MIT
#pragma once

// What came of a decision, and of the call that it approved.

#include <optional>
#include <string>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// The run that executes it was begun, and nobody works on it any more.
bool is_interrupted(const service::proposal_view& x, storage::journal& journal);

/// The command that finishes the run of an approval.
std::string how_to_resume(const proposal& x);

/// The call that an approval led to; nothing: none has settled.
std::optional<storage::call_record> executed_call(
    const service::proposal_view& about, storage::journal& journal);
std::string outcome_text(const storage::call_record& x);

/// For who has decided about the proposal with this id.
std::string verdict_text(const decided& x, const std::string& id, runtime& rt);

/// It was approved, but its tool never began; says so.
bool was_not_executed(const run& by, runtime& rt, console& io);

}  // namespace riffle::cli
