// SPDX-License-Identifier: MIT
#include "actors/core/progress_merge.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

void progress_merge::on_begun(const call_id& call, std::uint32_t attempt) {
  if (!settled_.contains(call)) begin(call, attempt);
}

progress_merge::out progress_merge::take_ready() {
  return std::exchange(ready_, {});
}

progress_merge::out progress_merge::on_progress(work::progress x) {
  auto result = take_ready();
  const auto i = open_.find(x.id);
  const auto known = i != open_.end();
  if (settled_.contains(x.id) ||
      (known && i->second.held && x.attempt > i->second.attempt)) {
    ++dropped_;
  } else if (!known || x.attempt > i->second.attempt) {
    hold_early(std::move(x));
  } else {
    emit(i->second, std::move(x), result);
    if (complete(i->second)) settle(i->first, i->second.held->token, result);
  }
  return result;
}

progress_merge::out progress_merge::on_settled(settlement x) {
  const auto i = open_.find(x.call);
  if (settled_.contains(x.call) || (i != open_.end() && i->second.held))
    return take_ready();
  if (i == open_.end()) {
    auto result = take_ready();
    settle(x.call, x.token, result);
    return result;
  }
  auto& state = i->second;
  // The dispatcher announces each attempt before it settles it; should one be
  // missing, or this settlement be of an older one, waiting would be in vain.
  if (x.attempt > state.attempt)
    begin(x.call, x.attempt);
  else if (x.attempt < state.attempt)
    x.last_progress.reset();
  auto result = take_ready();
  state.held = std::move(x);
  if (complete(state)) settle(i->first, state.held->token, result);
  return result;
}

progress_merge::out progress_merge::on_give_up(const call_id& call) {
  auto result = take_ready();
  const auto i = open_.find(call);
  if (i != open_.end() && i->second.held)
    settle(i->first, i->second.held->token, result);
  return result;
}

void progress_merge::begin(const call_id& call, std::uint32_t attempt) {
  auto& state = open_[call];
  if (state.held || attempt <= state.attempt) return;
  state = open_call{attempt, 0, {}};
  const auto held = early_.extract(call);
  if (!held) return;
  std::erase(early_order_, call);
  for (auto& x : held.mapped()) {
    if (x.attempt > attempt)
      hold_early(std::move(x));
    else
      emit(state, std::move(x), ready_);
  }
}

void progress_merge::hold_early(work::progress x) {
  auto& list = early_[x.id];
  if (list.empty()) {
    early_order_.push_back(x.id);
    list.push_back(std::move(x));
    if (early_order_.size() > early_calls)
      drop_early(call_id{early_order_.front()});
    return;
  }
  auto& newest = list.back();
  if (std::pair{x.attempt, x.number} <=
      std::pair{newest.attempt, newest.number}) {
    ++dropped_;
    return;
  }
  if (list.size() < early_limit) {
    list.push_back(std::move(x));
  } else if (newest.attempt == x.attempt) {
    x.report.coalesced += newest.report.coalesced + 1;
    newest = std::move(x);
  } else {
    ++dropped_;
    list.pop_front();
    list.push_back(std::move(x));
  }
}

void progress_merge::drop_early(const call_id& call) {
  const auto i = early_.find(call);
  if (i == early_.end()) return;
  dropped_ += i->second.size();
  early_.erase(i);
  std::erase(early_order_, call);
}

void progress_merge::emit(open_call& state, work::progress x, out& result) {
  if (x.attempt != state.attempt || x.number <= state.seen) {
    ++dropped_;
    return;
  }
  state.seen = x.number;
  result.progress.push_back(
      {std::move(x.id), std::move(x.tool), std::move(x.report)});
}

void progress_merge::settle(const call_id& call, std::uint64_t token,
                            out& result) {
  result.settled.push_back(token);
  drop_early(call);
  settled_.insert(call);
  settled_order_.push_back(call);
  open_.erase(settled_order_.back());  // `call` may be the key that dies here
  if (settled_order_.size() > settled_limit) {
    settled_.erase(settled_order_.front());
    settled_order_.pop_front();
  }
}

bool progress_merge::complete(const open_call& state) {
  return state.held && (!state.held->last_progress ||
                        state.seen >= *state.held->last_progress);
}

}  // namespace riffle::core
