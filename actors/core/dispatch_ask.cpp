// SPDX-License-Identifier: MIT
// Who is asked, and when: a part of the dispatch queue.
//
// Who is asked sees what the call would do, so what it works on is as it will
// be: earlier calls that change it have ended. With `ask_ahead` one question at
// a time comes before that, in the model's order, and what was approved is
// looked at again when it is about to begin, and asked about again if an
// earlier call has failed since.
#include <utility>

#include "actors/core/dispatch_queue.hpp"

namespace riffle::core {

void dispatch_queue::ask(entry& x, dispatch_effects& out) {
  const auto writer = x.call.control
                          ? std::optional<call_place>{}
                          : open_calls_.last_writer_before(x.call, x.place);
  if (writer && !x.asked) {
    wait_for(*writer, x);
    if (!may_ask_ahead(x)) return;
  }
  x.at = phase::approving;
  x.ahead = writer && limits_.ask_ahead;
  if (x.ahead) ahead_.insert(x.place);
  out.emplace_back(
      request_approval{x.call, x.ahead ? ask_reason::ahead : ask_reason::now});
}

/// What an earlier call names as its own would be shown as it was before. Of a
/// call that may change anything (a command) nobody knows all that it works on,
/// so whether an earlier one changed that: it is asked about behind that.
bool dispatch_queue::may_ask_ahead(const entry& x) {
  if (!limits_.ask_ahead || x.postponed || x.call.keys.empty() ||
      *undecided_.begin() != x.place)
    return false;
  const auto named = open_calls_.last_named_writer_before(x.call, x.place);
  if (named) wait_for(*named, x);
  return !named;
}

bool dispatch_queue::ask_again(entry& x, dispatch_effects& out) {
  if (!std::exchange(x.ahead, false) || !x.call.needs_approval) return false;
  x.at = phase::approving;
  x.approved = x.outdated = false;
  x.again = true;
  undecided_.insert(x.place);
  agreed_.erase(x.place);
  const bool doubted = std::exchange(x.doubted, false);
  out.emplace_back(request_approval{x.call, x.attempt > 0 ? ask_reason::resumed
                                            : doubted     ? ask_reason::doubted
                                                          : ask_reason::again});
  return true;
}

void dispatch_queue::look_anew(entry& x, dispatch_effects& out) {
  if (std::exchange(x.outdated, false))
    out.emplace_back(request_approval{x.call, ask_reason::anew});
}

/// The next one may be asked ahead.
void dispatch_queue::decided(const entry& x) {
  ahead_.erase(x.place);
  if (x.ahead && x.approved && x.at != phase::settled)
    agreed_.insert(x.place);
  else
    agreed_.erase(x.place);
  if (undecided_.erase(x.place) == 0 || undecided_.empty()) return;
  if (limits_.ask_ahead) fresh_.insert(*undecided_.begin());
}

/// Whoever is asked about a later call saw what was before this one.
void dispatch_queue::outdate(const entry& x) {
  if (x.call.eff != effect::mutating || x.call.control || x.attempt == 0)
    return;
  for (auto i = ahead_.upper_bound(x.place); i != ahead_.end(); ++i) {
    calls_.at(*i).outdated = true;
    fresh_.insert(*i);
  }
}

/// Who approved a later call ahead did not know that this one would fail, or
/// that they would say no to it after all: a push behind tests. Each is marked
/// once, whatever fails behind that.
void dispatch_queue::doubt(const entry& x, outcome how) {
  const bool began = x.attempt > 0 || x.again;
  if (how == outcome::ok || x.call.eff != effect::mutating || x.call.control ||
      !began)
    return;
  const auto from = agreed_.upper_bound(x.place);
  for (auto i = from; i != agreed_.end(); ++i) calls_.at(*i).doubted = true;
  agreed_.erase(from, agreed_.end());
}

dispatch_effects dispatch_queue::on_postponed(const call_id& id,
                                              time_point now) {
  auto* x = find(id);
  if (x == nullptr || x->at != phase::approving || !x->ahead)
    return on_decision(id, false, {}, now);  // withdrawn, or late
  dispatch_effects out;
  x->at = phase::waiting;
  x->ahead = x->outdated = false;
  x->postponed = true;
  ahead_.erase(x->place);
  fresh_.insert(x->place);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

}  // namespace riffle::core
