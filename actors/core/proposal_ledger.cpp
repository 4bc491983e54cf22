// SPDX-License-Identifier: MIT
#include "actors/core/proposal_ledger.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {
namespace {

constexpr std::string_view itself = "riffle";

}  // namespace

request_answer proposal_ledger::on_request(open_proposal x) {
  if (find(x.id) != nullptr) return {};
  request_answer result{true, std::nullopt};
  if (auto* older = open_of(x.call))
    result.superseded = decide(*older, events::decision::cancelled, itself,
                               "superseded by a newer proposal");
  entries_.push_back({std::move(x), std::nullopt});
  return result;
}

decision_answer proposal_ledger::on_decision(const proposal_id& id,
                                             events::decision how,
                                             std::string_view by,
                                             std::string_view reason,
                                             std::string_view digest,
                                             std::string_view arguments) {
  auto* x = find(id);
  if (x == nullptr) return {decision_verdict::unknown, std::nullopt};
  if (x->decided) return {decision_verdict::too_late, x->decided};
  if (!digest.empty() && digest != x->request.digest)
    return {decision_verdict::stale, std::nullopt};
  decide(*x, how, by, reason);
  if (how == events::decision::approved) x->decided->arguments = arguments;
  return {decision_verdict::accepted, x->decided};
}

void proposal_ledger::restore(decided_proposal x) {
  auto* known = find(x.id);
  if (known == nullptr) {
    entries_.push_back({{x.id, x.call, x.digest}, std::nullopt});
    known = &entries_.back();
  }
  if (known->decided) return;
  x.call = known->request.call;
  x.digest = known->request.digest;
  known->decided = std::move(x);
}

std::optional<decided_proposal> proposal_ledger::cancel(const call_id& call) {
  auto* x = open_of(call);
  if (x == nullptr) return std::nullopt;
  return decide(*x, events::decision::cancelled, itself, {});
}

std::vector<decided_proposal> proposal_ledger::expired(wall_time now) {
  std::vector<decided_proposal> result;
  while (true) {
    const auto when = next_expiry();
    if (!when || *when > now) return result;
    const auto i = std::ranges::find_if(entries_, [&](const entry& x) {
      return !x.decided && x.request.expires_at == when;
    });
    result.push_back(decide(*i, events::decision::expired, itself, {}));
  }
}

std::optional<decided_proposal> proposal_ledger::decision_of(
    const call_id& call, std::string_view digest) const {
  const auto i =
      std::find_if(entries_.rbegin(), entries_.rend(),
                   [&](const entry& x) { return x.request.call == call; });
  if (i == entries_.rend() || i->request.digest != digest) return std::nullopt;
  return i->decided;
}

std::vector<open_proposal> proposal_ledger::pending() const {
  std::vector<open_proposal> result;
  for (const auto& x : entries_)
    if (!x.decided) result.push_back(x.request);
  return result;
}

std::optional<wall_time> proposal_ledger::next_expiry() const {
  std::optional<wall_time> result;
  for (const auto& x : entries_) {
    const auto& when = x.request.expires_at;
    if (!x.decided && when && (!result || *when < *result)) result = when;
  }
  return result;
}

void proposal_ledger::forget(const call_id& call) {
  std::erase_if(entries_,
                [&](const entry& x) { return x.request.call == call; });
}

proposal_ledger::entry* proposal_ledger::find(const proposal_id& id) {
  const auto i = std::ranges::find_if(
      entries_, [&](const entry& x) { return x.request.id == id; });
  return i == entries_.end() ? nullptr : &*i;
}

proposal_ledger::entry* proposal_ledger::open_of(const call_id& call) {
  const auto i = std::ranges::find_if(entries_, [&](const entry& x) {
    return !x.decided && x.request.call == call;
  });
  return i == entries_.end() ? nullptr : &*i;
}

decided_proposal proposal_ledger::decide(entry& x, events::decision how,
                                         std::string_view by,
                                         std::string_view reason) {
  x.decided = decided_proposal{x.request.id,
                               x.request.call,
                               x.request.digest,
                               how,
                               std::string{by},
                               std::string{reason},
                               {}};
  return *x.decided;
}

}  // namespace riffle::core
