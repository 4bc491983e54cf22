// SPDX-License-Identifier: MIT
#pragma once

// "/compact": a run of the session whose answer is what the next task, which
// begins a session of its own, is told of it. Its record says all that is
// needed to go on, also behind a `kill -9`.

#include <optional>
#include <string>
#include <string_view>

#include "runtime/storage/records.hpp"

namespace riffle::cli {

/// The task of such a run, as a person typed it; and what is told beside it.
inline constexpr std::string_view compact_task = "/compact";
inline constexpr std::string_view compact_context =
    "By that the user asks you: sum up this conversation for somebody who goes "
    "on with it and sees nothing else: what was asked, what was decided and "
    "why, which files were changed and how, what is open. Call no tools.";

/// If the newest run of a session is such a one, and has ended well: what the
/// next task is told of what came before.
std::optional<std::string> summary_of(const storage::session_snapshot& x);

}  // namespace riffle::cli
