// SPDX-License-Identifier: MIT
#include "actors/call_inspection.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "actors/call_policy.hpp"
#include "actors/call_records.hpp"
#include "actors/core/always_scope.hpp"
#include "actors/run_spec.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Characters of a preview that are stored; a person who looks at all of a
/// change needs more than a screen.
constexpr std::size_t preview_size = 256u << 10;

/// Its failure is no failure of the call. What is compared later is what was
/// shown, also if it was cut.
tools::call_preview preview_of(const tools::tool& tool,
                               const nlohmann::json& arguments,
                               const std::filesystem::path& workspace) {
  try {
    auto made = tool.preview(arguments, workspace);
    if (made.basis.empty() && !made.text.empty())
      made.basis = sha256(made.text);
    bool cut = false;
    made.text = cut_text(made.text, preview_size, cut);
    if (cut) made.text += "\n[the rest is not shown]";
    return made;
  } catch (...) {
    return {};
  }
}

void find_grant(const run_spec& spec, const tool_call& call,
                const rule_subject& subject, call_inspection& out) {
  auto all = spec.journal->grants(spec.session);
  if (!all) {
    log_warn("proposal_tracker", render(all.error()));
    return;
  }
  for (auto& x : *all)
    if (covers(x, spec.folder, out.definition, call, subject))
      out.granted = std::move(x);
}

}  // namespace

bool covers(const storage::grant_record& grant, const std::string& folder,
            const std::string& definition, const tool_call& call,
            const rule_subject& subject) {
  if (grant.tool != call.tool || grant.folder != folder || definition.empty() ||
      grant.definition != definition)
    return false;
  switch (grant.scope) {
    case always_scope::none: break;
    case always_scope::call: return grant.what == call.arguments;
    case always_scope::pattern:
      return core::always_matches(grant.what, subject);
    case always_scope::tool: return true;
  }
  return false;
}

call_inspection inspect_call(const run_spec& spec, const tool_call& call,
                             bool grants) {
  call_inspection out;
  const auto* tool = spec.registry->find(call.tool);
  if (tool == nullptr) return out;
  try {
    const auto& settings = spec.tool_settings.of(call.tool);
    const auto workspace = std::filesystem::absolute(settings.workspace);
    const auto arguments = nlohmann::json::parse(call.arguments);
    out.definition = sha256((*tool)->definition() + "\n" + workspace.string());
    out.preview = preview_of(**tool, arguments, workspace);
    const auto subject = (*tool)->subject(arguments, workspace);
    out.can_always = core::judge_call(subject, core::approval_policy::allow,
                                      rules_of(spec.tool_settings, call.tool))
                         .policy == core::approval_policy::allow;
    if (!out.can_always) return out;
    out.pattern = core::always_pattern(subject);
    if (grants) find_grant(spec, call, subject, out);
  } catch (const std::exception& problem) {
    log_warn("proposal_tracker", call.tool + ": " + problem.what());
    return {};
  }
  return out;
}

}  // namespace riffle
