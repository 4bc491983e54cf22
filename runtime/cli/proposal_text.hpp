// SPDX-License-Identifier: MIT
#pragma once

// Proposals for people and for programs. Pure.

#include <string>

#include <nlohmann/json.hpp>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"

namespace riffle::cli {

/// "open", "approved", "denied", "expired", "cancelled".
std::string standing_text(const proposal& x, wall_time now);

/// One line: id, state, what it is about, session.
std::string summary_text(const proposal& x, wall_time now);

/// All of it: what would be done, why, until when, what was decided.
std::string whole_text(const proposal& x, wall_time now);

nlohmann::ordered_json to_json(const proposal& x, wall_time now);

/// A line about what was approved once and for all.
std::string grant_text(const grant_record& x);
nlohmann::ordered_json to_json(const grant_record& x);

}  // namespace riffle::cli
