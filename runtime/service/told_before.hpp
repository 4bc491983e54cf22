// SPDX-License-Identifier: MIT
#pragma once

// What the runs of a session are told of where they work is the first thing
// that a model reads: it stays, byte by byte, so that providers keep what they
// have read. What is otherwise by now is told with each task.

#include <string>

#include "messages/ids.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// Notes in `x` what of `told` lasts, and its state. If the session was told
/// the same before, but for its state, `x` has that text, and what of
/// that state is otherwise now stands in its context; false: it was not. So
/// does the folder, where the session's last task worked in another one.
bool keep_what_was_told(storage::session_records& journal,
                        const session_id& session, const std::string& told,
                        stored_request& x);

}  // namespace riffle::service
