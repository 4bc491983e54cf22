// SPDX-License-Identifier: MIT
// Proposals and decisions: the part of the runtime that persons talk to.
#include <utility>

#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_impl.hpp"

namespace riffle {

namespace {

storage::decision_record to_record(const proposal_id& id, decision x) {
  storage::decision_record out;
  out.proposal = id;
  out.how = x.approved ? events::proposal_outcome::approved
                       : events::proposal_outcome::denied;
  out.by = std::move(x.by);
  out.reason = std::move(x.reason);
  out.arguments = std::move(x.arguments).value_or("");
  out.always = x.approved ? x.always : always_scope::none;
  out.at = system_wall_time();
  return out;
}

/// Whether an approval has yet to be acted on, by a run of its own.
bool must_start(const proposal& x) {
  return x.what.source == events::proposal_source::tool_call && !x.what.waits &&
         x.decided && x.decided->how == events::proposal_outcome::approved &&
         x.executed_by.empty();
}

}  // namespace

expected<decided> runtime::decide(const proposal_id& id, decision x) {
  if (x.arguments && !x.approved)
    return unexpected{error{errc::invalid_request, "runtime.decide",
                            "a denial takes no arguments"}};
  const auto digest = std::exchange(x.digest, {});
  auto answer = impl_->owner->decide(to_record(id, std::move(x)), digest);
  if (!answer) return unexpected{std::move(answer.error())};
  decided out;
  out.verdict = answer->verdict;
  out.now = std::move(answer->now);
  const bool final = out.verdict == decision_verdict::accepted ||
                     out.verdict == decision_verdict::too_late;
  if (!final || !must_start(*out.now)) return out;
  if (auto started = start_cause(out); !started)
    return unexpected{std::move(started.error())};
  return out;
}

/// Starts what was approved, or leaves it to the inbox while the session is
/// busy.
expected<void> runtime::start_cause(decided& out) {
  auto& owner = *impl_->owner;
  if (!inside_handler()) {
    auto spec = owner.make_cause_spec(*out.now);
    if (!spec) return unexpected{std::move(spec.error())};
    auto opened = open(*spec, {}, {}, true);
    if (opened) {
      out.started = std::move(*opened);
      out.now->executed_by = out.started->id();
      return {};
    }
    if (opened.error().code != errc::session_busy)
      return unexpected{std::move(opened.error())};
  }
  owner.queue_cause(*out.now);
  out.queued = true;
  return {};
}

expected<std::vector<grant_record>> runtime::grants(
    const std::optional<session_id>& of) {
  return impl_->owner->journal().grants(of);
}

expected<bool> runtime::revoke(const proposal_id& grant) {
  return impl_->owner->journal().revoke(grant);
}

expected<std::vector<proposal>> runtime::proposals(
    const proposal_filter& filter) {
  auto all = impl_->owner->journal().list_proposals(filter);
  if (!all || !filter.undecided) return all;
  const auto now = system_wall_time();
  std::erase_if(*all, [&](const proposal& x) {
    return storage::effective_outcome(x, now).has_value();
  });
  return all;
}

}  // namespace riffle
