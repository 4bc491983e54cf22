// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "actors/core/approval_rules.hpp"
#include "runtime/config/config.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// Whether a call may run, must be asked for, or never runs: the tool's rules
/// look at every call, `approval` at those that change something. Control
/// tools need nobody's consent. May look at the file system for a moment
/// (where a path leads). `arguments` are valid for the tool's schema.
core::judgement judge_call(const tools::tool& tool,
                           const config::tool_config& settings,
                           const nlohmann::json& arguments);

/// Only its policy.
core::approval_policy policy_of(const tools::tool& tool,
                                const config::tool_config& settings,
                                const nlohmann::json& arguments);

}  // namespace riffle
