// SPDX-License-Identifier: MIT
#pragma once

// Which session a person means, before a runtime is there.

#include <optional>
#include <string>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// For a task: the newest of this folder (`goes_on`; `not_found` says how to
/// begin one), or the one that is named. Part of an id that Riffle made is
/// enough; any other name that there is not is a new session's.
expected<std::optional<session_id>> session_for_task(
    const config::config& settings, const std::optional<std::string>& named,
    bool goes_on);

/// For a task that goes on with a session and names no model: the one that was
/// named before, which is in `settings` from then on. Nothing: the agent's own.
std::optional<std::string> model_of_session(config::config& settings,
                                            const session_id& session,
                                            const std::string& agent);

/// One that must be there, by any part of its id that no other has.
expected<session_id> known_session(const config::config& settings,
                                   const std::string& part);

}  // namespace riffle::cli
