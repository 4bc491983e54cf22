// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <unordered_set>

#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// "ses_…  2 runs, completed: the last task", one line.
std::string summary_text(const session_summary& x);

/// The conversation: each run's task, what the model said, which calls it
/// made, and how the run ended.
/// `interrupted`: of its unfinished runs those that nobody works on.
std::string conversation_text(
    const storage::session_snapshot& x,
    const std::unordered_set<run_id>& interrupted = {});

}  // namespace riffle::cli
