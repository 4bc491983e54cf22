// SPDX-License-Identifier: MIT
#pragma once

// What people and programs are told of sessions, proposals and tools, as JSON:
// the same by the command line and over HTTP. Part of the contract
// (docs/contract.md): members are added, never renamed.

#include <nlohmann/json.hpp>

#include "runtime/service/proposals.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/tools.hpp"

namespace riffle::service {

nlohmann::ordered_json to_json(const session_summary& x);
/// A run, without what it said.
nlohmann::ordered_json to_json(const storage::run_record& x, bool interrupted);
/// Its runs and its conversation.
/// `interrupted`: of its unfinished runs those that nobody works on.
nlohmann::ordered_json to_json(
    const storage::session_snapshot& x,
    const std::unordered_set<run_id>& interrupted = {});

/// "active", "interrupted", "completed" …
std::string state_of(const storage::run_record& x,
                     const std::unordered_set<run_id>& interrupted);

/// `now`: what expired until then counts as decided.
nlohmann::ordered_json to_json(const proposal_view& x, wall_time now);
nlohmann::ordered_json to_json(const storage::grant_record& x);
nlohmann::ordered_json to_json(const tool_view& x);

/// open, stale, or what was decided.
std::string status_of(const proposal_view& x, wall_time now);
/// Where a call stands, or how it settled.
std::string state_of(const storage::call_record& x);
/// A run's state; `interrupted` if it has not ended and nobody works on it.
std::string state_of(const session_summary& x);

/// In one line; what is no UTF-8 is replaced.
std::string dump(const nlohmann::ordered_json& x);

}  // namespace riffle::service
