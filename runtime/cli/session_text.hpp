// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// "ses_…  2 runs, completed: the last task", one line.
std::string summary_text(const storage::session_snapshot& x);
nlohmann::ordered_json summary_json(const storage::session_snapshot& x);

/// The conversation: each run's task, what the model said, which calls it
/// made, and how the run ended.
std::string conversation_text(const storage::session_snapshot& x);
nlohmann::ordered_json conversation_json(const storage::session_snapshot& x);

}  // namespace riffle::cli
