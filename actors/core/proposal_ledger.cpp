// SPDX-License-Identifier: MIT
#include "actors/core/proposal_ledger.hpp"

#include <ranges>

namespace riffle::core {
namespace {

constexpr std::string_view itself = "riffle";

}  // namespace

request_answer proposal_ledger::on_request(open_proposal x) {
  if (find(x.id) != nullptr) return {};
  request_answer result{true, std::nullopt};
  if (const auto older = open_of(x.call))
    result.superseded = decide(*older, events::proposal_outcome::cancelled,
                               itself, "superseded by a newer proposal");
  add(std::move(x));
  return result;
}

ledger_answer proposal_ledger::on_decision(const proposal_id& id,
                                           events::proposal_outcome how,
                                           std::string_view by,
                                           std::string_view reason,
                                           std::string_view digest,
                                           std::string_view arguments) {
  const auto* x = find(id);
  if (x == nullptr) return {decision_verdict::unknown, std::nullopt};
  if (x->decided) return {decision_verdict::too_late, x->decided};
  if (!digest.empty() && digest != x->request.digest)
    return {decision_verdict::stale, std::nullopt};
  const auto at = by_id_.at(id);
  decide(at, how, by, reason);
  auto& decided = entries_.at(at).decided;
  if (how == events::proposal_outcome::approved) decided->arguments = arguments;
  return {decision_verdict::accepted, decided};
}

void proposal_ledger::restore(decided_proposal x) {
  if (find(x.id) == nullptr) add({x.id, x.call, x.digest});
  const auto at = by_id_.at(x.id);
  const auto& known = entries_.at(at);
  if (known.decided) return;
  x.call = known.request.call;
  x.digest = known.request.digest;
  hold(at, std::move(x));
}

std::optional<decided_proposal> proposal_ledger::cancel(const call_id& call) {
  const auto at = open_of(call);
  if (!at) return std::nullopt;
  return decide(*at, events::proposal_outcome::cancelled, itself, {});
}

std::vector<decided_proposal> proposal_ledger::expired(wall_time now) {
  std::vector<decided_proposal> result;
  while (!expiries_.empty() && expiries_.begin()->first <= now)
    result.push_back(decide(expiries_.begin()->second,
                            events::proposal_outcome::expired, itself, {}));
  return result;
}

std::optional<decided_proposal> proposal_ledger::decision_of(
    const call_id& call, std::string_view digest) const {
  const auto i = by_call_.find(call);
  if (i == by_call_.end()) return std::nullopt;
  const auto& newest = entries_.at(*i->second.rbegin());
  if (newest.request.digest != digest) return std::nullopt;
  return newest.decided;
}

std::vector<open_proposal> proposal_ledger::pending() const {
  std::vector<open_proposal> result;
  for (const auto& [at, x] : entries_)
    if (!x.decided) result.push_back(x.request);
  return result;
}

const open_proposal* proposal_ledger::find_pending(
    const proposal_id& id) const {
  const auto* x = find(id);
  return x == nullptr || x->decided ? nullptr : &x->request;
}

std::optional<wall_time> proposal_ledger::next_expiry() const {
  if (expiries_.empty()) return std::nullopt;
  return expiries_.begin()->first;
}

void proposal_ledger::forget(const call_id& call) {
  const auto its = by_call_.extract(call);
  if (!its) return;
  for (const auto at : its.mapped()) {
    const auto& x = entries_.at(at);
    if (x.request.expires_at) expiries_.erase({*x.request.expires_at, at});
    by_id_.erase(x.request.id);
    entries_.erase(at);
  }
}

const proposal_ledger::entry* proposal_ledger::find(
    const proposal_id& id) const {
  const auto i = by_id_.find(id);
  return i == by_id_.end() ? nullptr : &entries_.at(i->second);
}

std::optional<proposal_ledger::place> proposal_ledger::open_of(
    const call_id& call) const {
  const auto i = by_call_.find(call);
  if (i == by_call_.end()) return std::nullopt;
  for (const auto at : std::views::reverse(i->second))
    if (!entries_.at(at).decided) return at;
  return std::nullopt;
}

proposal_ledger::place proposal_ledger::add(open_proposal x) {
  const auto at = next_++;
  by_id_.emplace(x.id, at);
  by_call_[x.call].insert(at);
  if (x.expires_at) expiries_.emplace(*x.expires_at, at);
  entries_.emplace(at, entry{std::move(x), std::nullopt});
  return at;
}

const decided_proposal& proposal_ledger::decide(place at,
                                                events::proposal_outcome how,
                                                std::string_view by,
                                                std::string_view reason) {
  const auto& request = entries_.at(at).request;
  hold(at, {request.id,
            request.call,
            request.digest,
            how,
            std::string{by},
            std::string{reason},
            {}});
  return *entries_.at(at).decided;
}

void proposal_ledger::hold(place at, decided_proposal x) {
  auto& known = entries_.at(at);
  if (known.request.expires_at)
    expiries_.erase({*known.request.expires_at, at});
  known.decided = std::move(x);
}

}  // namespace riffle::core
