// SPDX-License-Identifier: MIT
#include "actors/call_policy.hpp"

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"

namespace riffle {

namespace {

core::approval_policy policy_named(const std::string& x) {
  if (x == "allow") return core::approval_policy::allow;
  if (x == "deny") return core::approval_policy::deny;
  return core::approval_policy::ask;
}

}  // namespace

core::judgement judge_call(const tools::tool& tool,
                           const config::tool_config& settings,
                           const nlohmann::json& arguments) {
  const auto& about = tool.spec();
  if (core::is_control_tool(about.name))
    return {core::approval_policy::allow, {}};
  const auto base = about.eff == effect::read_only
                        ? core::approval_policy::allow
                        : policy_named(settings.approval);
  if (settings.rules.empty()) return {base, {}};
  std::vector<core::approval_rule> rules;
  for (const auto& x : settings.rules)
    rules.push_back({x.match, policy_named(x.approval)});
  const auto workspace = std::filesystem::absolute(settings.workspace);
  return core::judge_call(tool.subject(arguments, workspace), base, rules);
}

core::approval_policy policy_of(const tools::tool& tool,
                                const config::tool_config& settings,
                                const nlohmann::json& arguments) {
  return judge_call(tool, settings, arguments).policy;
}

}  // namespace riffle
