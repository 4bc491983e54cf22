// SPDX-License-Identifier: MIT
#pragma once

// Proposals for people. Pure.

#include <cstddef>
#include <string>
#include <string_view>

#include "messages/time.hpp"
#include "runtime/service/proposals.hpp"

namespace riffle::cli {

/// One line: id, state, what it is about, session. What expired until `now`
/// counts as decided. `first`: a command that has to come before what was
/// approved can be executed.
std::string summary_text(const service::proposal_view& x, wall_time now,
                         const std::string& first = {});

/// All of it: what would be done, why, until when, what was decided. A
/// line that is too long for so many columns (0: none) goes on behind "┊".
std::string whole_text(const service::proposal_view& x, wall_time now,
                       std::size_t columns = 0);

/// "bash: touch made (k3f9qz)": what was decided, in a few words.
std::string decided_text(const storage::proposal_record& x);

/// "bash: every call": what was approved once and for all.
std::string covered_text(const storage::grant_record& x);

/// What an approval allows from then on; empty: nothing.
std::string always_text(const storage::proposal_state& x);
/// The same of what was chosen at a question.
std::string always_text(const std::string& tool, const std::string& pattern,
                        always_scope scope, bool kept);

/// Why a command has none, of several that one of them which has none: "what
/// follows rm can mean anything".
std::string why_no_pattern(std::string_view command);

/// A line about what was approved once and for all.
std::string grant_text(const storage::grant_record& x, wall_time now);

}  // namespace riffle::cli
