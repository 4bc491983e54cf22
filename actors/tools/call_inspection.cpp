// SPDX-License-Identifier: MIT
#include "actors/tools/call_inspection.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "actors/core/always_scope.hpp"
#include "actors/run/run_spec.hpp"
#include "actors/tools/call_check.hpp"
#include "actors/tools/call_policy.hpp"
#include "actors/tools/call_records.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"
#include "tools/ask.hpp"

namespace riffle {

namespace {

/// Characters of a preview that are stored; a person who looks at all of a
/// change needs more than a screen.
constexpr std::size_t preview_size = 256u << 10;
constexpr const char* proposal_tracker_op = "proposal_tracker";

void find_grant(const run_spec& spec, const tool_call& call,
                const rule_subject& subject, call_inspection& out) {
  auto all = spec.journal->grants(spec.session);
  if (!all) {
    log_warn(proposal_tracker_op, render(all.error()));
    return;
  }
  for (auto& x : *all)
    if (covers(x, spec.folder, out, call, subject)) out.granted = std::move(x);
}

}  // namespace

namespace {

void make_comparable(tools::call_preview& x) {
  if (x.basis.empty() && !x.text.empty()) x.basis = sha256(x.text);
  bool cut = false;
  x.text = cut_text(x.text, preview_size, cut);
  if (cut) x.text += "\n[the rest is not shown]";
}

}  // namespace

expected<tools::call_preview> preview_for_person(
    const tools::tool& tool, const nlohmann::json& arguments,
    const std::filesystem::path& workspace) {
  auto made = tools::ask_preview(tool, arguments, workspace);
  if (made) make_comparable(*made);
  return made;
}

bool covers(const storage::grant_record& grant, const std::string& folder,
            const call_inspection& seen, const tool_call& call,
            const rule_subject& subject) {
  if (grant.tool != call.tool || grant.folder != folder ||
      seen.definition.empty())
    return false;
  if (grant.definition != storage::grant_identity(grant.scope, grant.what,
                                                  seen.definition,
                                                  seen.preview.basis))
    return false;
  switch (grant.scope) {
    case always_scope::none: break;
    case always_scope::call:
      return tools::are_same_arguments(grant.what, call.arguments);
    case always_scope::pattern:
      return core::always_matches(grant.what, subject);
    case always_scope::tool: return true;
  }
  return false;
}

namespace {

/// Nothing, or why nobody can tell.
std::optional<error> inspect(const run_spec& spec, const tools::tool& tool,
                             const tool_call& call, bool grants,
                             call_inspection& out) {
  const auto workspace =
      std::filesystem::absolute(spec.tool_settings.of(call.tool).workspace);
  const auto arguments = nlohmann::json::parse(call.arguments);
  const auto definition = tools::ask_definition(tool);
  if (!definition) return definition.error();
  out.definition = sha256(*definition + "\n" + workspace.string());
  auto preview = tools::ask_preview(tool, arguments, workspace);
  if (!preview) return std::move(preview.error());
  if (preview->impossible) return std::move(preview->impossible);
  out.blind = preview->basis.empty();
  make_comparable(*preview);
  out.preview = std::move(*preview);
  const auto subject = tools::ask_subject(tool, arguments, workspace);
  if (!subject) return subject.error();
  out.can_always = judge_now(*subject, core::approval_policy::allow,
                             rules_of(spec.tool_settings, call.tool), workspace)
                       .policy == core::approval_policy::allow;
  if (!out.can_always) return {};
  out.pattern = core::always_pattern(*subject);
  // Of a file that nobody knows nothing can be allowed.
  if (storage::grant_identity(always_scope::pattern, out.pattern,
                              out.definition, out.preview.basis)
          .empty())
    out.pattern.clear();
  if (grants) find_grant(spec, call, *subject, out);
  return {};
}

call_inspection unknown(error why) {
  call_inspection out;
  out.failure = std::move(why);
  return out;
}

}  // namespace

call_inspection inspect_call(const run_spec& spec, const tool_call& call,
                             bool grants) {
  const auto* tool = spec.registry->find(call.tool);
  if (tool == nullptr)
    return unknown({errc::tool_not_found, proposal_tracker_op,
                    "there is no tool `" + call.tool + "` any more"});
  call_inspection out;
  try {
    if (auto why = find_refusal(spec, call)) {
      out.failure = std::move(why);
      out.refused = true;
      return out;
    }
    if (auto why = inspect(spec, **tool, call, grants, out))
      return unknown(std::move(*why));
  } catch (const std::exception& problem) {  // of ours: no memory, no folder
    return unknown({errc::internal, proposal_tracker_op,
                    std::string{"it could not be looked at, so it was not "
                                "executed: "} +
                        problem.what()});
  }
  return out;
}

changed_call inspect_changed(const run_spec& spec, const tool_call& call,
                             const std::string& arguments) {
  changed_call out{call, {}};
  try {
    out.call = edit_call(spec, call, arguments);
    if (out.call) out.seen = inspect_call(spec, *out.call, false);
  } catch (const std::exception& problem) {  // of ours: no memory
    out.seen = unknown({errc::internal, proposal_tracker_op, problem.what()});
  }
  if (out.seen.failure) out.call = unexpected{*out.seen.failure};
  return out;
}

}  // namespace riffle
