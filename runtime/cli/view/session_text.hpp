// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// "ses_…  2 runs, completed: the last task", one line. An active run that is
/// one of those that are `gone` is interrupted: nobody works on it.
std::string summary_text(const storage::session_snapshot& x,
                         const std::unordered_set<run_id>& gone);
nlohmann::ordered_json summary_json(const storage::session_snapshot& x,
                                    const std::unordered_set<run_id>& gone);

/// The conversation: each run's task, what the model said, which calls it
/// made, and how the run ended.
std::string conversation_text(const storage::session_snapshot& x);
nlohmann::ordered_json conversation_json(const storage::session_snapshot& x);

}  // namespace riffle::cli
