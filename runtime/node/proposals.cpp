// SPDX-License-Identifier: MIT
// Decisions about proposals, and the runs that approvals cause.
#include <utility>

#include "actors/tools/call_check.hpp"
#include "actors/tools/call_policy.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/run_folder.hpp"

namespace riffle {

namespace {

constexpr const char* op = "node.decide";

expected<std::optional<storage::proposal_state>> find_proposal(
    storage::journal& journal, const proposal_id& id) {
  storage::proposal_filter filter;
  filter.id = id;
  auto all = journal.list_proposals(filter);
  if (!all) return unexpected{std::move(all.error())};
  std::optional<storage::proposal_state> found;
  if (!all->empty()) found = std::move(all->front());
  return found;
}

/// What a person who looks at the session reads as its task.
std::string cause_task(const storage::proposal_state& x) {
  return "Proposal " + x.what.id.value + " (" + x.what.title +
         ") was approved by " + x.decided->by + ". It is executed now.";
}

}  // namespace

expected<void> node::check_edit(storage::decision_record& x) {
  auto found = find_proposal(*journal_, x.proposal);
  if (!found) return unexpected{std::move(found.error())};
  if (!*found || (*found)->decided) return {};  // `decide` says it
  const auto& what = (*found)->what;
  if (what.source != events::proposal_source::tool_call)
    return unexpected{error{
        errc::invalid_request, op,
        "proposal " + what.id.value + " is no tool call: it has no arguments"}};
  // A tool that only the run's own process knows is checked there.
  if (registry_->find(what.tool) == nullptr) return {};
  auto checked = registry_->check(what.tool, x.arguments);
  if (!checked) return unexpected{std::move(checked.error())};
  x.arguments = std::move(checked->canonical);
  const auto how =
      policy_of(**registry_->find(what.tool), config_.tools, checked->value);
  if (!how) return unexpected{how.error()};
  if (how->policy == core::approval_policy::deny)
    return unexpected{denied_call(what.tool)};
  return {};
}

/// What cannot be done with this proposal is said before anything is stored.
expected<void> node::check_approval(const storage::decision_record& x) {
  if (x.how != events::proposal_outcome::approved) return {};
  auto found = find_proposal(*journal_, x.proposal);
  if (!found) return unexpected{std::move(found.error())};
  if (!*found || (*found)->decided) return {};  // `decide` says it
  const auto& what = (*found)->what;
  const auto refused = [&](const std::string& why) {
    return unexpected{error{errc::invalid_request, op,
                            "proposal " + what.id.value + " " + why}};
  };
  if (x.always != always_scope::none && !what.can_always)
    return refused(
        "cannot be approved for further calls: a rule of the configuration "
        "asks for each of them, or it is no tool call");
  if (x.always == always_scope::pattern && what.pattern.empty())
    return refused("has no pattern for further calls: approve this call alone");
  const bool here =
      what.source == events::proposal_source::tool_call && !what.waits;
  return here ? check_folder(what.folder, "proposal " + what.id.value)
              : expected<void>{};
}

expected<storage::decision_answer> node::decide(storage::decision_record x,
                                                const std::string& digest) {
  if (auto why = failure()) return unexpected{std::move(*why)};
  if (auto ok = check_approval(x); !ok)
    return unexpected{std::move(ok.error())};
  if (!x.arguments.empty())
    if (auto ok = check_edit(x); !ok) return unexpected{std::move(ok.error())};
  auto answer = journal_->decide(std::move(x), digest);
  if (answer && answer->now && answer->now->decided)
    caf::anon_send(inbox_, decision_known{*answer->now->decided});
  return answer;
}

void node::queue_cause(const storage::proposal_state& cause) {
  caf::anon_send(inbox_, queued_cause{cause});
}

expected<run_spec_ptr> node::make_cause_spec(
    const storage::proposal_state& cause) {
  auto made_by = journal_->load_run(cause.what.run);
  if (!made_by) return unexpected{std::move(made_by.error())};
  auto choice = choice_from_json(made_by->settings);
  if (auto ok = check_folder(choice.folder, "proposal " + cause.what.id.value);
      !ok)
    return unexpected{std::move(ok.error())};
  choice.cause = cause.what.id;
  return make_spec(ids_->next<run_id>(), cause.what.session, cause_task(cause),
                   choice);
}

expected<void> node::find_cause(run_spec& spec, const run_choice& choice) {
  if (!choice.cause) return {};
  auto found = find_proposal(*journal_, *choice.cause);
  if (!found) return unexpected{std::move(found.error())};
  if (!*found || !(*found)->decided)
    return unexpected{
        error{errc::not_found, op,
              "there is no approved proposal " + choice.cause->value}};
  spec.cause = std::move(*found);
  return {};
}

}  // namespace riffle
