// SPDX-License-Identifier: MIT
#include "actors/tools/call_policy.hpp"

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"
#include "tools/ask.hpp"

namespace riffle {

namespace {

core::approval_policy policy_named(const std::string& x) {
  if (x == "allow") return core::approval_policy::allow;
  if (x == "deny") return core::approval_policy::deny;
  return core::approval_policy::ask;
}

}  // namespace

std::vector<core::approval_rule> rules_of(const config::tools_config& settings,
                                          const std::string& tool) {
  std::vector<core::approval_rule> rules;
  for (const auto& x : settings.of(tool).rules)
    rules.push_back({x.match, policy_named(x.approval)});
  return rules;
}

core::approval_policy otherwise_of(const config::tools_config& settings,
                                   const std::string& tool, effect eff) {
  return policy_named(settings.approval_of(tool, eff));
}

expected<call_policy> policy_of(const tools::tool& tool,
                                const config::tools_config& settings,
                                const nlohmann::json& arguments) {
  const auto& about = tool.spec();
  if (core::is_control_tool(about.name)) return call_policy{};
  const auto base = otherwise_of(settings, about.name, about.eff);
  const auto rules = rules_of(settings, about.name);
  // Nobody looks: nobody needs to know what it is about.
  if (rules.empty() && base != core::approval_policy::ask && !about.always_asks)
    return call_policy{base, {}, {}};
  auto subject =
      tools::ask_subject(tool, arguments, settings.of(about.name).workspace);
  if (!subject) return unexpected{std::move(subject.error())};
  auto how = core::judge_call(*subject, base, rules);
  if (about.always_asks && how.policy == core::approval_policy::allow)
    how.policy = core::approval_policy::ask;
  return call_policy{how.policy, std::move(how.in_doubt), std::move(*subject)};
}

}  // namespace riffle
