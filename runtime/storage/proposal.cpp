// SPDX-License-Identifier: MIT
#include "runtime/storage/proposal.hpp"

#include <algorithm>

#include "actors/core/always_scope.hpp"
#include "runtime/base/call_identity.hpp"
#include "runtime/base/digest.hpp"

namespace riffle::storage {

namespace {

checked_decision void_by(const decision_record& x, events::proposal_outcome how,
                         const char* reason) {
  decision_record mine{x.proposal,         how,  "riffle", reason, {},
                       always_scope::none, x.at, {}};
  return {decision_verdict::too_late, std::move(mine)};
}

}  // namespace

std::string grant_identity(always_scope scope, const std::string& pattern,
                           const std::string& definition,
                           const std::string& basis) {
  if (scope == always_scope::call) return call_identity(definition, basis);
  if (scope != always_scope::pattern || core::script_of_line(pattern).empty())
    return definition;
  const auto program = program_of_basis(basis);
  return program.empty() ? program : call_identity(definition, program);
}

std::optional<events::proposal_outcome> effective_outcome(
    const proposal_state& x, wall_time now) {
  if (x.decided) return x.decided->how;
  if (x.what.expires && *x.what.expires <= now)
    return events::proposal_outcome::expired;
  return std::nullopt;
}

checked_decision judge(const proposal_state& now, const decision_record& x,
                       std::string_view digest, bool run_is_active) {
  using events::proposal_outcome;
  if (now.decided) return {decision_verdict::too_late, {}};
  const bool by_person =
      x.how == proposal_outcome::approved || x.how == proposal_outcome::denied;
  if (by_person && now.what.waits && !run_is_active)
    return void_by(x, proposal_outcome::cancelled, "its run has ended");
  if (by_person && now.what.expires && *now.what.expires <= x.at)
    return void_by(x, proposal_outcome::expired, "it was not decided in time");
  if (!digest.empty() && digest != now.what.digest)
    return {decision_verdict::stale, {}};
  checked_decision out{decision_verdict::accepted, x};
  if (x.how == proposal_outcome::approved)
    out.store->digest = x.arguments.empty()
                            ? now.what.digest
                            : proposal_digest(now.what.tool, x.arguments,
                                              now.what.definition, x.basis);
  return out;
}

std::optional<grant_record> grant_of(const proposal_record& what,
                                     const decision_record& x) {
  if (x.how != events::proposal_outcome::approved ||
      x.always == always_scope::none || !what.can_always)
    return std::nullopt;
  grant_record out{
      what.id,  what.session, what.folder, what.tool, what.definition,
      x.always, {},           x.by,        x.at};
  if (x.kept) out.session = {};
  // It is the pattern of the call as it was asked, not of another one.
  if (x.always == always_scope::pattern && x.arguments.empty())
    out.what = what.pattern;
  if (x.always == always_scope::call) {
    const bool changed = !x.arguments.empty();
    out.what = changed ? x.arguments : what.arguments;
    out.definition =
        call_identity(what.definition, changed ? x.basis : what.basis);
  }
  if (x.always == always_scope::pattern)
    out.definition =
        grant_identity(x.always, what.pattern, what.definition, what.basis);
  const bool named = (x.always == always_scope::tool || !out.what.empty()) &&
                     !out.definition.empty();
  return named ? std::optional{std::move(out)} : std::nullopt;
}

bool covers_waiting(const grant_record& grant, const proposal_record& what) {
  if (!what.can_always || what.definition.empty() || grant.tool != what.tool ||
      grant.folder != what.folder ||
      grant.definition != grant_identity(grant.scope, what.pattern,
                                         what.definition, what.basis) ||
      (!grant.session.value.empty() && grant.session != what.session))
    return false;
  switch (grant.scope) {
    case always_scope::none: break;
    case always_scope::call: return grant.what == what.arguments;
    case always_scope::pattern: return grant.what == what.pattern;
    case always_scope::tool: return true;
  }
  return false;
}

std::vector<proposal_state> select_proposals(std::vector<proposal_state> all,
                                             const proposal_filter& filter) {
  std::ranges::reverse(all);
  std::erase_if(all, [&](const proposal_state& x) {
    return (filter.undecided && x.decided) ||
           (filter.id && x.what.id != *filter.id) ||
           (filter.session && x.what.session != *filter.session);
  });
  if (all.size() > filter.limit) all.resize(filter.limit);
  return all;
}

std::optional<std::string> find_cause_fault(
    const std::optional<proposal_state>& cause, const session_id& session) {
  if (!cause) return "there is no such proposal";
  if (cause->what.session != session) return "it is of another session";
  if (cause->what.source != events::proposal_source::tool_call)
    return "it is no proposal of a tool call";
  if (cause->what.waits) return "its run executes it itself";
  if (!cause->decided ||
      cause->decided->how != events::proposal_outcome::approved)
    return "it is not approved";
  if (!cause->executed_by.empty())
    return "run " + cause->executed_by.value + " has executed it";
  return std::nullopt;
}

}  // namespace riffle::storage
