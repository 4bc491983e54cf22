// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "actors/core/approval_rules.hpp"
#include "runtime/config/config.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// What the configuration says about a call.
struct call_policy {
  core::approval_policy policy = core::approval_policy::allow;
  std::string in_doubt{};  ///< see `core::judgement`
  std::string rule{};      ///< the same
  rule_subject subject;    ///< what was judged
  /// Of a command that a rule may deny by where links lead: it is judged once
  /// more when it begins, and a yes holds while this is the same.
  std::optional<std::string> again{};
  /// Of this call; `subject.place` is set where it is not the tool's own.
  effect eff = effect::read_only;
};

/// Whether a call may run, must be asked for, or never runs: the tool's rules
/// look at every call, `approval` at the rest (`tools_config::approval_of`).
/// Control tools need nobody's consent. May look at the file system for a
/// moment (where a path leads). `arguments` are valid for the tool's schema.
/// Fails if the tool cannot say what the call is about.
expected<call_policy> policy_of(const tools::tool& tool,
                                const config::tools_config& settings,
                                const nlohmann::json& arguments);

/// Whether `policy_of` may have to look at the file system for a call of this
/// tool.
bool takes_a_look(const tools::tool& tool,
                  const config::tools_config& settings);

/// What rules say about a call: `core::judge_call`, of a command also by where
/// its words lead now. Looks at the file system if one of them denies.
core::judgement judge_now(const rule_subject& subject,
                          core::approval_policy base,
                          const std::vector<core::approval_rule>& rules,
                          const std::filesystem::path& workspace);

/// The rules of a tool, and what holds where none matches.
std::vector<core::approval_rule> rules_of(const config::tools_config& settings,
                                          const std::string& tool);
core::approval_policy otherwise_of(const config::tools_config& settings,
                                   const std::string& tool, effect eff);

}  // namespace riffle
