// SPDX-License-Identifier: MIT
#pragma once

// Proposals for people and for programs. Pure.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"

namespace riffle::cli {

/// "open", "approved", "denied", "expired", "cancelled", or "stale": it was
/// approved, but what it showed had changed, and `by` is asked for instead
/// (empty: nothing is).
std::string status_text(const proposal& x, wall_time now,
                        const proposal_id& by = {});

/// Which proposal took the place of which, among these.
std::map<proposal_id, proposal_id> replacements(
    const std::vector<proposal>& all);

/// One line: id, state, what it is about, session.
std::string summary_text(const proposal& x, wall_time now,
                         const proposal_id& by = {});

/// All of it: what would be done, why, until when, what was decided.
std::string whole_text(const proposal& x, wall_time now,
                       const proposal_id& by = {});

nlohmann::ordered_json to_json(const proposal& x, wall_time now,
                               const proposal_id& by = {});

/// A line about what was approved once and for all.
std::string grant_text(const grant_record& x);
nlohmann::ordered_json to_json(const grant_record& x);

}  // namespace riffle::cli
