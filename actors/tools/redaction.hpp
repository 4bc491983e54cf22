// SPDX-License-Identifier: MIT
#pragma once

// The process's own secrets (keys of providers, tokens of the server) are kept
// out of what tools bring: a tool may read a file that holds one, and what it
// says goes to the model, the events and the journal.

#include <filesystem>

#include "messages/call.hpp"

namespace riffle {

void redact(call_result& x);
void redact(tool_progress_report& x);

/// The same of a file that a tool has written, in place; untouched if it holds
/// none. Secrets do not go over the end of a line. Blocks. A file that holds
/// one and cannot be written anew is removed.
void redact_file(const std::filesystem::path& file);

}  // namespace riffle
