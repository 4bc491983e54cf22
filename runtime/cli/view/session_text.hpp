// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// "ses_…  2 runs, completed: the last task", one line.
std::string summary_text(const session_summary& x);

/// The conversation: each run's task, what the model said, which calls it
/// made, and how the run ended.
std::string conversation_text(const storage::session_snapshot& x);

}  // namespace riffle::cli
