// SPDX-License-Identifier: MIT
// Who waits for whom: a part of the dispatch queue.
#include <algorithm>

#include "actors/core/conflict.hpp"
#include "actors/core/dispatch_detail.hpp"
#include "actors/core/dispatch_queue.hpp"

namespace riffle::core {

using namespace dispatch_detail;

namespace {

/// Bytes of all outputs that are kept for reuse; what comes later runs again.
constexpr std::size_t reuse_total = 16u << 20;

}  // namespace

dispatch_queue::entry& dispatch_queue::add(tool_call call) {
  const auto place = next_place_++;
  auto& x = calls_[place];
  x.place = place;
  x.call = std::move(call);
  places_.emplace(x.call.id, &x);
  ++open_;
  if (x.call.control)
    open_controls_.insert(place);
  else
    open_calls_.add(x.call, place);
  if (x.call.eff == effect::mutating) changes_.add(x.call, place);
  if (x.call.needs_approval) undecided_.insert(place);
  fresh_.insert(place);
  return x;
}

/// What it is now may hold back others than before, and leave others alone.
void dispatch_queue::change(entry& x, tool_call call) {
  if (!x.call.control) open_calls_.remove(x.call, x.place);
  if (x.call.eff == effect::mutating) changes_.remove(x.call, x.place);
  call.control = x.call.control;
  x.call = std::move(call);
  x.edited = true;
  if (!x.call.control) open_calls_.add(x.call, x.place);
  if (x.call.eff == effect::mutating) changes_.add(x.call, x.place);
  look_again(x.held);
  for (const auto find : {&conflict_index::last_writer_before,
                          &conflict_index::last_reader_before})
    while (const auto other = (ready_calls_.*find)(x.call, next_place_)) {
      if (*other < x.place) break;
      set_ready(calls_.at(*other), false);
      fresh_.insert(*other);
    }
  for (const auto place : ended_) look_again(calls_.at(place).held);
}

void dispatch_queue::keep_for_reuse(finished_read x) {
  if (finished_bytes_ + x.output.size() > reuse_total) return;
  const auto size = x.output.size();
  auto key = reuse_key(x.tool, x.arguments);
  if (finished_.try_emplace(std::move(key), std::move(x)).second)
    finished_bytes_ += size;
}

void dispatch_queue::keep_for_reuse(const tool_call& x,
                                    const std::string& output) {
  if (finished_bytes_ + output.size() > reuse_total) return;
  const auto [i, fresh] = finished_.try_emplace(reuse_key(x.tool, x.arguments));
  if (!fresh) return;
  i->second = {x.id, x.tool, x.arguments, output};
  finished_bytes_ += output.size();
}

void dispatch_queue::forget_settled() {
  changes_.clear();
  for (auto i = calls_.begin(); i != calls_.end();) {
    const auto& x = i->second;
    if (x.at == phase::settled && !x.working) {
      places_.erase(x.call.id);
      fresh_.erase(x.place);
      gated_.erase(x.place);
      i = calls_.erase(i);
      continue;
    }
    if (x.call.eff == effect::mutating) changes_.add(x.call, x.place);
    ++i;
  }
}

bool dispatch_queue::may_start(const entry& x) const {
  const bool early = x.call.eff == effect::read_only && !x.call.control;
  return early || gate_open_;
}

dispatch_queue::hold dispatch_queue::held_back(const entry& x) {
  if (x.call.control) {
    // `complete` and its kind take effect once all others have settled; among
    // themselves they keep the model's order. See `settle`.
    const bool first = *open_controls_.begin() == x.place;
    const bool alone = open_ == open_controls_.size();
    return first && alone ? hold::none : hold::open_call;
  }
  if (const auto other = open_calls_.last_before(x.call, x.place))
    return wait_for(*other, x);
  if (const auto other = find_beside(x)) return wait_for(*other, x);
  for (const auto other : ended_) {
    if (other > x.place && !x.edited) break;
    if (other != x.place && conflict(calls_.at(other).call, x.call))
      return wait_for(other, x);
  }
  return hold::none;
}

dispatch_queue::hold dispatch_queue::wait_for(call_place other,
                                              const entry& x) {
  auto& holder = calls_.at(other);
  holder.held.push_back(x.place);
  return holder.at == phase::settled ? hold::ended_call : hold::open_call;
}

/// Later calls began beside what an edited call was before.
std::optional<call_place> dispatch_queue::find_beside(const entry& x) const {
  if (!x.edited) return {};
  for (auto i = working_.upper_bound(x.place); i != working_.end(); ++i) {
    const auto& other = calls_.at(*i);
    if (other.at != phase::settled && conflict(other.call, x.call)) return *i;
  }
  return {};
}

void dispatch_queue::set_ready(const entry& x, bool is) {
  if (is && ready_.insert(x.place).second) ready_calls_.add(x.call, x.place);
  if (!is && ready_.erase(x.place) > 0) ready_calls_.remove(x.call, x.place);
}

void dispatch_queue::look_again(std::vector<call_place>& held) {
  fresh_.insert(held.begin(), held.end());
  held.clear();
}

std::optional<call_place> dispatch_queue::next_candidate(
    call_place from) const {
  std::optional<call_place> next;
  if (const auto i = fresh_.lower_bound(from); i != fresh_.end()) next = *i;
  if (!has_slot()) return next;
  const auto i = ready_.lower_bound(from);
  if (i != ready_.end() && (!next || *i < *next)) next = *i;
  return next;
}

}  // namespace riffle::core
