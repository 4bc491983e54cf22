// SPDX-License-Identifier: MIT
#include "tests/core/dispatch_watch.hpp"

#include <algorithm>
#include <variant>

#include "tests/support/catch.hpp"

namespace riffle::testing {

namespace {

char letter_of(const core::dispatch_effect& x) {
  if (const auto* settled = std::get_if<core::settle_call>(&x))
    return "+!0/CIT"[static_cast<std::size_t>(settled->result.how)];
  if (const auto* begun = std::get_if<core::begin_call>(&x))
    return begun->await_commit ? 'c' : 'b';
  return "anbwkxvrsDjt"[x.index()];
}

const call_id& id_of(const core::dispatch_effect& effect) {
  static const call_id none;
  return std::visit(
      [](const auto& x) -> const call_id& {
        if constexpr (requires { x.call.value; })
          return x.call;
        else if constexpr (requires { x.call.id; })
          return x.call.id;
        else
          return none;
      },
      effect);
}

bool holds(const std::string& folder, const std::string& path) {
  return path == folder || path.starts_with(folder + "/");
}

bool mutates(const tool_call& x) {
  return x.eff == effect::mutating && !x.control;
}

}  // namespace

std::string letters(const core::dispatch_effects& effects,
                    const call_id& only) {
  std::string result;
  for (const auto& x : effects)
    if (only.empty() || id_of(x).empty() || id_of(x) == only)
      result += letter_of(x);
  return result;
}

bool must_keep_order(const tool_call& a, const tool_call& b) {
  if (a.control || b.control || (!mutates(a) && !mutates(b))) return false;
  if (mutates(a) && mutates(b)) return true;
  const auto& writer = mutates(a) ? a : b;
  const auto& reader = mutates(a) ? b : a;
  if (writer.keys.empty()) return true;
  for (const auto& w : writer.keys)
    for (const auto& r : reader.keys)
      if (holds(w, r) || holds(r, w)) return true;
  return false;
}

// -- what the world did -------------------------------------------------------

void dispatch_watch::call(const tool_call& x) {
  calls_.emplace_back().call = x;
}

void dispatch_watch::restored(const core::restored_call& x) {
  auto& seen = calls_.emplace_back();
  seen.call = x.call;
  seen.attempt = x.attempt;
  seen.announced = x.announced;
  seen.restored = x.begun;
  seen.approved = x.begun || x.approved.value_or(false);
  seen.recorded = true;
  seen.was_asked = x.asked;
}

void dispatch_watch::gate(bool safe) {
  // A crash from here on finds each call of the message in the records.
  for (const auto& x : calls_) {
    CAPTURE(x.call.id.value);
    REQUIRE((x.recorded || x.announced || x.settled));
  }
  gate_safe_ = safe;
}

void dispatch_watch::decided(const call_id& id, bool approved) {
  auto& x = at(id);
  if (!x.asked) return;
  (approved ? x.approved : x.denied) = true;
  x.asked = false;
}

void dispatch_watch::postponed(const call_id& id) {
  auto& x = at(id);
  x.asked = x.ahead = false;
}

void dispatch_watch::edited(const tool_call& x) {
  auto& seen = at(x.id);
  bool later = false;
  for (const auto& other : calls_) {
    if (later && other.working) seen.beside.insert(other.call.id);
    later = later || &other == &seen;
  }
  seen.call = x;
}

void dispatch_watch::committed(const call_id& id, std::uint32_t attempt) {
  auto& x = at(id);
  x.acked = x.attempt == attempt;
}

void dispatch_watch::ended(const call_id& id, std::uint32_t attempt) {
  if (!knows(id)) return;
  if (auto& x = at(id); x.attempt == attempt) {
    x.working = false;
    for (auto& other : calls_) other.beside.erase(id);
  }
}

void dispatch_watch::moved(const call_id& id, std::uint32_t attempt) {
  if (!knows(id)) return;
  if (at(id).attempt == attempt) at(id).moved = true;
  ended(id, attempt);
}

void dispatch_watch::judged(const call_id& id, bool now) {
  at(id).cleared = now;
}

void dispatch_watch::next_step() {
  std::erase_if(calls_,
                [](const seen_call& x) { return x.settled && !x.working; });
  gate_safe_ = false;
}

// -- what the queue asked for -------------------------------------------------

void dispatch_watch::take(const core::dispatch_effects& effects) {
  for (const auto& effect : effects) {
    CAPTURE(letter_of(effect), id_of(effect).value);
    if (!id_of(effect).empty()) REQUIRE_FALSE(at(id_of(effect)).settled);
    std::visit([&](const auto& x) { see(x); }, effect);
    REQUIRE(in_flight() <= max_in_flight_);
  }
}

void dispatch_watch::see(const core::request_approval& x) {
  auto& seen = at(x.call.id);
  REQUIRE(x.call.needs_approval);
  REQUIRE(seen.announced == (x.why == core::ask_reason::resumed));
  check_asked(seen, x.why);
  if (x.why == core::ask_reason::anew) return;
  REQUIRE_FALSE(seen.asked);
  // Consent was for another place.
  const bool again = x.why >= core::ask_reason::again;
  if (seen.approved && !again) REQUIRE((x.call.judged && seen.cleared));
  seen.approved = false;
  seen.ahead = x.why == core::ask_reason::ahead;
  seen.again = again;
  if (mutates(x.call)) REQUIRE(gate_safe_);
  seen.asked = true;
  seen.was_asked = false;
  seen.recorded = true;
}

/// Who is asked sees what the call would do.
void dispatch_watch::check_asked(const seen_call& x,
                                 core::ask_reason why) const {
  if (why >= core::ask_reason::again) {
    REQUIRE(x.approved);
    return check_order(x);
  }
  if (why == core::ask_reason::anew) REQUIRE((x.asked && x.ahead));
  if (why != core::ask_reason::ahead) return;
  for (const auto& other : calls_) {
    if (&other == &x) return;
    // In the model's order, one at a time.
    const bool open = !other.settled && other.call.needs_approval;
    if (!x.was_asked) REQUIRE((!open || other.approved));
  }
}

void dispatch_watch::see(const core::note_waiting& x) {
  at(x.call.id).recorded = true;
}

void dispatch_watch::see(const core::begin_call& x) {
  auto& seen = at(x.call.id);
  REQUIRE(x.announce == !seen.announced);
  REQUIRE_FALSE(seen.working);
  REQUIRE((!x.call.needs_approval || seen.approved));
  REQUIRE((!seen.ahead || seen.again));
  REQUIRE(x.await_commit == mutates(x.call));
  const bool repeatable =
      x.call.control || x.call.idempotent || x.call.eff == effect::read_only;
  REQUIRE((repeatable || seen.attempt == 0 || seen.moved));
  if (x.call.judged && x.attempt > 0) REQUIRE(seen.cleared);
  seen.moved = false;
  if (mutates(x.call) || x.call.control) REQUIRE(gate_safe_);
  if (x.attempt == 0)  // an earlier attempt's result is reused: it reads now
    REQUIRE(x.call.eff == effect::read_only);
  else
    REQUIRE(x.attempt == seen.attempt + 1);
  check_order(seen);
  seen.announced = true;
  seen.acked = false;
  seen.attempt = x.attempt;
  seen.working = x.attempt > 0;
}

void dispatch_watch::see(const core::start_work& x) {
  const auto& seen = at(x.call.id);
  REQUIRE_FALSE(x.call.control);
  REQUIRE(seen.attempt == x.attempt);
  REQUIRE(seen.working);
  REQUIRE((seen.acked || !mutates(x.call)));
  check_order(seen);
}

void dispatch_watch::see(const core::start_control& x) {
  const auto& seen = at(x.call.id);
  REQUIRE(x.call.control);
  REQUIRE(seen.working);
  // Control tools come last.
  for (const auto& other : calls_)
    REQUIRE((other.settled || other.call.control));
}

void dispatch_watch::see(const core::tell_queued& x) {
  auto& seen = at(x.call.id);
  REQUIRE(seen.working);
  REQUIRE((seen.acked || !mutates(x.call)));
  REQUIRE((seen.told_queued == seen.attempt) == x.waited.has_value());
  seen.told_queued = x.waited ? 0 : seen.attempt;
}

void dispatch_watch::see(const core::stop_work& x) {
  const auto& seen = at(x.call);
  REQUIRE(seen.working);
  REQUIRE(seen.attempt == x.attempt);
  REQUIRE((seen.acked || !mutates(seen.call)));
}

void dispatch_watch::see(const core::cancel_approval& x) {
  auto& seen = at(x.call);
  REQUIRE((seen.asked || seen.was_asked));
  seen.asked = seen.was_asked = false;
}

void dispatch_watch::see(const core::retry_call& x) {
  const auto& seen = at(x.call.id);
  REQUIRE((x.call.eff == effect::read_only || x.call.idempotent || seen.moved));
  REQUIRE(seen.attempt == x.failed_attempt);
  REQUIRE(x.failed_attempt < x.max_attempts);
  REQUIRE_FALSE(seen.working);
}

void dispatch_watch::see(const core::settle_call& x) {
  auto& seen = at(x.call.id);
  REQUIRE(x.announced == seen.announced);
  REQUIRE(x.attempt == seen.attempt);
  REQUIRE_FALSE((seen.asked || seen.was_asked));
  REQUIRE((x.result.how == outcome::ok) == !x.result.err.has_value());
  if (x.result.how == outcome::ok) REQUIRE(seen.announced);
  if (seen.denied)
    REQUIRE(x.result.how ==
            (seen.attempt > 0 ? outcome::interrupted : outcome::denied));
  // Nothing is told of work that never was, and of a lost one no success.
  if (seen.attempt == 0 && x.result.how == outcome::ok)
    REQUIRE(!x.result.metadata.empty());
  if (mutates(x.call) && seen.restored && !x.call.idempotent)
    REQUIRE(x.result.how != outcome::ok);
  // An intent that nobody acknowledged was not handed over.
  if (mutates(x.call) && !seen.acked) seen.working = false;
  if (x.call.control) seen.working = false;
  seen.settled = true;
  seen.how = x.result.how;
}

void dispatch_watch::see(const core::judge_start& x) {
  const auto& seen = at(x.call.id);
  REQUIRE(x.call.judged);
  REQUIRE_FALSE((seen.asked || seen.working));
  if (mutates(x.call)) REQUIRE(gate_safe_);
  check_order(seen);
}

void dispatch_watch::see(const core::calls_drained&) {
  REQUIRE(open().empty());
  next_step();
}

void dispatch_watch::check_order(const seen_call& x) const {
  for (const auto& earlier : calls_) {
    if (&earlier == &x) break;
    CAPTURE(earlier.call.id.value, x.call.id.value);
    if (earlier.beside.contains(x.call.id)) continue;
    if (must_keep_order(earlier.call, x.call))
      REQUIRE((earlier.settled && !earlier.working));
  }
  for (const auto& id : x.beside) {
    const auto& later = of(id);
    CAPTURE(id.value, x.call.id.value);
    if (must_keep_order(x.call, later.call)) REQUIRE_FALSE(later.working);
  }
}

bool dispatch_watch::knows(const call_id& id) const {
  return std::ranges::any_of(
      calls_, [&](const seen_call& x) { return x.call.id == id; });
}

const dispatch_watch::seen_call& dispatch_watch::of(const call_id& id) const {
  return const_cast<dispatch_watch*>(this)->at(id);
}

dispatch_watch::seen_call& dispatch_watch::at(const call_id& id) {
  const auto i = std::ranges::find_if(
      calls_, [&](const seen_call& x) { return x.call.id == id; });
  CAPTURE(id.value);
  REQUIRE(i != calls_.end());
  return *i;
}

std::vector<call_id> dispatch_watch::open() const {
  std::vector<call_id> result;
  for (const auto& x : calls_)
    if (!x.settled) result.push_back(x.call.id);
  return result;
}

std::uint32_t dispatch_watch::in_flight() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      calls_, [](const seen_call& x) { return x.working && !x.call.control; }));
}

}  // namespace riffle::testing
