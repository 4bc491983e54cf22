// SPDX-License-Identifier: MIT
#include "actors/tools/call_policy.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"
#include "tools/ask.hpp"
#include "tools/led_words.hpp"

namespace riffle {

namespace {

core::approval_policy policy_named(const std::string& x) {
  if (x == "allow") return core::approval_policy::allow;
  if (x == "deny") return core::approval_policy::deny;
  return core::approval_policy::ask;
}

}  // namespace

namespace {

bool any_denies(const std::vector<core::approval_rule>& rules) {
  return std::ranges::any_of(rules, [](const core::approval_rule& x) {
    return x.policy == core::approval_policy::deny;
  });
}

/// Whether the tool `read` would show all of it without a question.
bool may_read(const tools::read_claim& x, const config::tools_config& settings,
              const std::string& tool) {
  using core::approval_policy;
  if (settings.of(tool).workspace != settings.of("read").workspace)
    return false;
  const auto base = otherwise_of(settings, "read", effect::read_only);
  const auto rules = rules_of(settings, "read");
  const auto is_strict = [](const core::approval_rule& rule) {
    return rule.policy != approval_policy::allow;
  };
  if (x.sweeps &&
      (base != approval_policy::allow || std::ranges::any_of(rules, is_strict)))
    return false;
  return std::ranges::all_of(x.places, [&](const rule_subject& place) {
    return core::policy_of(place, base, rules) == approval_policy::allow;
  });
}

/// What this call does to the world, as far as can be told before it runs.
expected<effect> effect_of(const tools::tool& tool,
                           const config::tools_config& settings,
                           const nlohmann::json& arguments) {
  const auto& about = tool.spec();
  if (about.eff == effect::read_only) return about.eff;
  // What leads where was looked at here, so it is told of nowhere else.
  if (std::ranges::any_of(settings.of(about.name).nodes,
                          [](const auto& x) { return x != "local"; }))
    return about.eff;
  const auto claim =
      tools::ask_only_reads(tool, arguments, settings.of(about.name).workspace);
  if (!claim) return unexpected{claim.error()};
  const bool reads = *claim && may_read(**claim, settings, about.name);
  return reads ? effect::read_only : effect::mutating;
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

core::judgement judge_now(const rule_subject& subject,
                          core::approval_policy base,
                          const std::vector<core::approval_rule>& rules,
                          const std::filesystem::path& workspace) {
  if (!subject.shell || !subject.known || !any_denies(rules))
    return core::judge_call(subject, base, rules);
  return core::judge_led_call(subject, base, rules,
                              tools::find_led_words(subject.text, workspace));
}

bool takes_a_look(const tools::tool& tool,
                  const config::tools_config& settings) {
  const auto& about = tool.spec();
  if (core::is_control_tool(about.name)) return false;
  const auto& own = settings.of(about.name);
  return about.always_asks || !own.rules.empty() || !own.read_only.empty() ||
         otherwise_of(settings, about.name, about.eff) ==
             core::approval_policy::ask;
}

expected<call_policy> policy_of(const tools::tool& tool,
                                const config::tools_config& settings,
                                const nlohmann::json& arguments) {
  const auto& about = tool.spec();
  if (core::is_control_tool(about.name)) return call_policy{.eff = about.eff};
  const auto eff = effect_of(tool, settings, arguments);
  if (!eff) return unexpected{eff.error()};
  const auto base = otherwise_of(settings, about.name, *eff);
  const auto rules = rules_of(settings, about.name);
  // Nobody looks: nobody needs to know what it is about.
  if (rules.empty() && base != core::approval_policy::ask &&
      !about.always_asks && *eff == about.eff)
    return call_policy{.policy = base, .eff = *eff};
  auto subject =
      tools::ask_subject(tool, arguments, settings.of(about.name).workspace);
  if (!subject) return unexpected{std::move(subject.error())};
  auto how =
      judge_now(*subject, base, rules, settings.of(about.name).workspace);
  if (about.always_asks && how.policy == core::approval_policy::allow)
    how.policy = core::approval_policy::ask;
  subject->place = subject->place || *eff != about.eff;
  call_policy out{.policy = how.policy, .eff = *eff};
  if (subject->shell && any_denies(rules))
    out.again = how.in_doubt.empty() ? "" : "may be " + how.in_doubt;
  out.in_doubt = std::move(how.in_doubt);
  out.rule = std::move(how.rule);
  out.subject = std::move(*subject);
  return out;
}

}  // namespace riffle
