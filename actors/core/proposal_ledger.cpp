// SPDX-License-Identifier: MIT
#include "actors/core/proposal_ledger.hpp"

#include <utility>

namespace riffle::core {

void proposal_ledger::on_request(const call_id& call) {
  auto& x = calls_[call] = {};
  start_look(call, x);
}

void proposal_ledger::on_approved(const call_id& call) {
  auto& x = calls_[call] = {};
  x.at = stage::looked_again;
  start_look(call, x);
}

stored_move proposal_ledger::on_restored(const call_id& call,
                                         const proposal_id& proposal,
                                         bool withdrawn) {
  on_asked(call, proposal);
  calls_.at(call).withdrawn = withdrawn;
  return on_stored(call);
}

void proposal_ledger::on_resumed(const call_id& call) {
  const auto i = calls_.find(call);
  if (i != calls_.end() && i->second.at == stage::waits)
    start_look(call, i->second);
}

void proposal_ledger::start_look(const call_id& call, entry& x) {
  x.look = ++rounds_;
  to_look_.push_back({call, x.look});
}

std::vector<call_look> proposal_ledger::next_looks() {
  std::vector<call_look> out;
  while (!to_look_.empty() && looks_.size() < limit_) {
    const auto next = std::move(to_look_.front());
    to_look_.pop_front();
    const auto i = calls_.find(next.call);
    if (i == calls_.end() || i->second.look != next.round)
      continue;  // withdrawn meanwhile
    looks_.insert(next);
    out.push_back(next);
  }
  return out;
}

bool proposal_ledger::awaits(const call_look& x) const {
  const auto i = calls_.find(x.call);
  return i != calls_.end() && i->second.look == x.round && looks_.contains(x);
}

look_result proposal_ledger::on_seen(const call_look& x) {
  const bool awaited = awaits(x);
  looks_.erase(x);
  if (!awaited) return look_result::late;
  auto& of = calls_.at(x.call);
  of.look = 0;
  if (of.at == stage::waits) return look_result::restored;
  return of.at == stage::looked_again ? look_result::again : look_result::first;
}

void proposal_ledger::on_asked(const call_id& call,
                               const proposal_id& proposal) {
  auto& x = calls_[call];
  x.at = stage::asked;
  x.proposal = proposal;
}

stored_move proposal_ledger::on_stored(const call_id& call) {
  const auto i = calls_.find(call);
  if (i == calls_.end() || i->second.at != stage::asked)
    return stored_move::none;
  auto& x = i->second;
  x.at = stage::waits;
  waiting_.insert_or_assign(x.proposal, call);
  return x.withdrawn ? stored_move::cancel : stored_move::wait;
}

withdrawal proposal_ledger::on_withdrawn(const call_id& call) {
  const auto i = calls_.find(call);
  if (i == calls_.end()) return withdrawal::none;
  auto& x = i->second;
  if (x.proposal.value.empty()) {  // nobody was asked
    calls_.erase(i);
    return withdrawal::end;
  }
  x.withdrawn = true;
  return x.at == stage::waits ? withdrawal::cancel : withdrawal::later;
}

std::optional<call_id> proposal_ledger::waiting(const proposal_id& id) const {
  const auto i = waiting_.find(id);
  if (i == waiting_.end()) return {};
  return i->second;
}

std::optional<accepted_decision> proposal_ledger::on_decision(
    const proposal_id& id, events::proposal_outcome how, bool outdated) {
  const auto found = waiting_.extract(id);
  if (!found) return {};
  accepted_decision out{found.mapped()};
  auto& x = calls_.at(out.call);
  x.at = stage::looked_again;
  x.outdated = outdated;
  out.look =
      (how == events::proposal_outcome::approved || outdated) && !x.withdrawn;
  if (out.look) start_look(out.call, x);
  return out;
}

look_again proposal_ledger::after_look(const call_id& call, bool failed,
                                       bool holds) const {
  const auto i = calls_.find(call);
  if (i != calls_.end() && i->second.withdrawn) return look_again::resolve;
  if (i != calls_.end() && i->second.outdated)
    return failed ? look_again::resolve : look_again::replace;
  if (failed) return look_again::refuse;
  return holds ? look_again::resolve : look_again::replace;
}

void proposal_ledger::on_end(const call_id& call) {
  const auto found = calls_.extract(call);
  if (found) waiting_.erase(found.mapped().proposal);
}

}  // namespace riffle::core
