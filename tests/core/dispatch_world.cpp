// SPDX-License-Identifier: MIT
#include "tests/core/dispatch_world.hpp"

#include <algorithm>
#include <variant>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

namespace riffle::testing {
namespace {

bool mutates(const tool_call& x) {
  return x.eff == effect::mutating && !x.control;
}

}  // namespace

dispatch_world::dispatch_world(unsigned seed, bool mute)
    : random_{seed}, mute_{mute} {
  limits_.max_in_flight = 1 + below(4);
  limits_.ask_ahead = chance(60);
  limits_.tell_after = chance(50) ? 1s : 0s;
  queue_ = core::dispatch_queue{limits_};
  watch_ = dispatch_watch{limits_.max_in_flight};
  begin_step();
}

void dispatch_world::play() {
  for (int i = 0; i < 20000 && !done_; ++i) {
    calm_ = i > 150;
    auto choice = actions();
    int sum = 0;
    for (const auto& [weight, what] : choice) sum += weight;
    auto pick = static_cast<int>(below(static_cast<unsigned>(sum)));
    for (const auto& [weight, what] : choice) {
      pick -= weight;
      if (pick < 0) {
        what();
        break;
      }
    }
  }
  REQUIRE(done_);
  check_log();
}

// -- the model ----------------------------------------------------------------

tool_call dispatch_world::random_call() {
  static const std::vector<std::vector<std::string>> keys{
      {"a"}, {"a/x"}, {"b"}, {"a/x", "b"}, {}};
  tool_call x;
  x.control = chance(12);
  x.eff = chance(50) ? effect::read_only : effect::mutating;
  x.idempotent = chance(30);
  x.needs_approval = !x.control && chance(mutates(x) ? 40 : 10);
  x.keys = keys[below(static_cast<unsigned>(keys.size()))];
  x.tool = x.control ? "complete" : "tool";
  x.arguments = std::to_string(below(4));
  x.limits.attempts = 1 + below(3);
  if (mute_ || chance(50)) x.limits.timeout = 10s;
  if (chance(30)) x.limits.idle_timeout = 5s;
  if (mute_ || chance(50)) x.limits.queue_timeout = 20s;
  if (!x.control && chance(25)) x.judged = random_place();
  if (chance(8)) x.rejection = error{errc::truncated, "parser", "cut off"};
  return x;
}

void dispatch_world::begin_step() {
  ++steps_;
  script_.clear();
  for (auto n = 1 + below(6); n > 0; --n) script_.push_back(random_call());
  log_.push_back({record::kind::step, {}});
  begin_attempt();
}

void dispatch_world::begin_attempt() {
  plan_ = script_;
  for (auto& x : plan_) {
    x.id = call_id{"call_" + std::to_string(next_id_++)};
    calls_[x.id] = x;
    if (x.judged) places_[x.id] = *x.judged;
  }
  told_ = 0;
  gated_ = draining_ = false;
}

void dispatch_world::tell_next_call() {
  const auto& x = plan_[told_++];
  watch_.call(x);
  take(queue_.on_call(x, now_));
}

void dispatch_world::end_turn() {
  if (!calm_ && chance(15)) return drain(core::drain_reason::interrupted);
  const bool safe = chance(85);
  gated_ = true;
  log_.push_back({record::kind::message, {}, 0, safe, {}, plan_});
  watch_.gate(safe);
  take(queue_.on_gate(safe, now_));
}

void dispatch_world::drain(core::drain_reason why) {
  draining_ = true;
  take(queue_.on_drain(why, now_));
}

// -- journal and tracker ------------------------------------------------------

void dispatch_world::store_some() {
  const auto left = static_cast<unsigned>(log_.size() - stored_);
  for (auto n = 1 + below(left); n > 0; --n) {
    const auto x = log_[stored_++];
    if (x.what == record::kind::begun && mutates(calls_.at(x.id)))
      notices_.emplace_back([this, id = x.id, attempt = x.attempt] {
        if (!watch_.knows(id)) return;
        watch_.committed(id, attempt);
        take(queue_.on_intent_committed(id, attempt, now_));
      });
    if (x.what == record::kind::decided)
      notices_.emplace_back([this, x] {
        if (!watch_.knows(x.id)) return;
        const bool edited = !x.calls.empty() && watch_.of(x.id).asked;
        watch_.decided(x.id, x.flag);
        if (edited) {
          watch_.edited(x.calls[0]);
          calls_[x.id] = x.calls[0];
        }
        take(x.calls.empty() ? queue_.on_decision(x.id, x.flag, "because", now_)
                             : queue_.on_edited(x.calls[0], now_));
      });
    if (x.what == record::kind::drained)
      notices_.emplace_back([this] {
        if (last_drain_)
          done_ = true;
        else
          begin_attempt();
      });
  }
}

void dispatch_world::decide(const call_id& id, bool approved) {
  record x{record::kind::decided, id, 0, approved};
  x.place = asked_places_[id];
  if (approved && chance(30)) {
    auto edited = calls_.at(id);
    edited.keys = random_call().keys;
    edited.edited_from = edited.arguments;
    edited.arguments += "!";
    x.calls.push_back(std::move(edited));
  }
  log_.push_back(std::move(x));
  asked_.erase(id);
  withdrawn_.erase(id);
}

// -- workers ------------------------------------------------------------------

void dispatch_world::start(const call_id& id) {
  auto& x = works_.at(id);
  x.running = true;
  check_act(id);
  if (x.control) return;
  mail_.emplace_back([this, id, attempt = x.attempt] {
    take(queue_.on_started(id, attempt, now_));
  });
}

void dispatch_world::finish(const call_id& id, outcome how) {
  const auto x = works_.extract(id).mapped();
  call_result result;
  result.how = how;
  result.output = "output of " + id.value;
  if (how != outcome::ok)
    result.err = error{errc::tool_execution_error, "tool", "as it is"};
  mail_.emplace_back([this, id, attempt = x.attempt, result] {
    watch_.ended(id, attempt);
    take(queue_.on_result(id, attempt, result, 0, now_));
  });
}

void dispatch_world::die(const call_id& id) {
  const auto x = works_.extract(id).mapped();
  mail_.emplace_back([this, id, attempt = x.attempt] {
    watch_.ended(id, attempt);
    take(queue_.on_worker_lost(id, attempt, "segfault", now_));
  });
}

/// The tool touches the world: here the promises are kept or broken.
void dispatch_world::check_act(const call_id& id) {
  const auto& call = calls_.at(id);
  CAPTURE(id.value);
  REQUIRE_FALSE(recorded(record::kind::settled, id, log_.size()));
  if (call.needs_approval)
    REQUIRE(recorded(record::kind::decided, id, stored_));
  check_judged(call);
  if (!mutates(call)) return;
  REQUIRE(recorded(record::kind::begun, id, stored_));
  const auto message = std::ranges::find_if(log_, [&](const record& x) {
    return x.what == record::kind::message && x.flag &&
           std::ranges::any_of(x.calls,
                               [&](const tool_call& c) { return c.id == id; });
  });
  REQUIRE(message - log_.begin() < static_cast<std::ptrdiff_t>(stored_));
  const auto times = ++acts_[id];
  REQUIRE((call.idempotent || times == 1));
}

// -- crash and recovery -------------------------------------------------------

void dispatch_world::crash() {
  ++crashes_;
  log_.resize(stored_);
  works_.clear();  // a guard has killed what the dead process left behind
  mail_.clear();
  answers_.clear();
  notices_.clear();
  echoes_.clear();
  asked_.clear();
  withdrawn_.clear();
  queue_ = core::dispatch_queue{limits_};
  watch_ = dispatch_watch{limits_.max_in_flight};
  const record* message = nullptr;
  std::size_t step_begin = 0;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    if (log_[i].what == record::kind::step) step_begin = i;
    if (log_[i].what == record::kind::message) message = &log_[i];
    if (log_[i].what == record::kind::step ||
        log_[i].what == record::kind::drained)
      message = nullptr;
  }
  steps_ = static_cast<int>(std::ranges::count_if(
      log_, [](const record& x) { return x.what == record::kind::step; }));
  last_drain_ = false;
  if (steps_ == 0)
    begin_step();
  else
    recover(message, step_begin);
}

void dispatch_world::recover(const record* message, std::size_t step_begin) {
  const auto end = log_.size();
  std::vector<core::restored_call> open;
  std::vector<core::finished_read> finished;
  for (std::size_t i = step_begin; i < end && message == nullptr; ++i) {
    const auto& x = log_[i];
    if (x.what != record::kind::settled || x.how != outcome::ok) continue;
    const auto& call = calls_.at(x.id);
    if (call.eff == effect::read_only && !call.control)
      finished.push_back({x.id, call.tool, call.arguments, "output"});
  }
  const auto calls = message != nullptr ? message->calls : plan_;
  for (const auto& call : calls) {
    const bool known =
        message != nullptr || std::ranges::any_of(log_, [&](const record& x) {
          return x.id == call.id;
        });
    if (!known || recorded(record::kind::settled, call.id, end)) continue;
    open.push_back(restored(call));
    watch_.restored(open.back());
  }
  queue_.restore(std::move(open), std::move(finished));
  told_ = plan_.size();
  gated_ = message != nullptr;
  draining_ = false;
  if (!gated_) return drain(core::drain_reason::interrupted);
  watch_.gate(message->flag);
  take(queue_.on_gate(message->flag, now_));
}

core::restored_call dispatch_world::restored(const tool_call& call) const {
  core::restored_call r;
  r.call = call;
  for (const auto& x : log_) {
    if (x.id != call.id) continue;
    if (x.what == record::kind::begun) {
      r.begun = r.announced = true;
      r.attempt = std::max(r.attempt, x.attempt);
    }
    if (x.what == record::kind::asked) {
      r.asked = r.call.needs_approval = true;
      r.approved.reset();  // it was for another place
      if (r.call.judged) r.call.judged = x.place;
    }
    if (x.what != record::kind::decided) continue;
    r.approved = x.flag;
    if (!x.calls.empty()) r.call = x.calls[0];
  }
  r.asked = r.asked && !r.approved;
  return r;
}

// -- what the queue asked for -------------------------------------------------

void dispatch_world::take(core::dispatch_effects effects) {
  watch_.take(effects);
  for (const auto& effect : effects)
    std::visit([&](const auto& x) { see(x); }, effect);
}

void dispatch_world::see(const core::request_approval& x) {
  if (asks_nobody(x)) return;
  // One that was asked for before a crash is known to the tracker.
  const auto place = x.call.judged.value_or("");
  if (pending(x.call.id)) REQUIRE(asked_places_[x.call.id] == place);
  if (!pending(x.call.id)) {
    log_.push_back({record::kind::asked, x.call.id});
    log_.back().place = place;
  }
  asked_places_[x.call.id] = place;
  asked_.insert(x.call.id);
}

void dispatch_world::see(const core::note_waiting& x) {
  log_.push_back({record::kind::noted, x.call.id});
}

void dispatch_world::see(const core::begin_call& x) {
  log_.push_back({record::kind::begun, x.call.id, x.attempt, x.announce});
  reused_ += x.attempt == 0 ? 1 : 0;
}

void dispatch_world::see(const core::start_work& x) {
  REQUIRE(works_.emplace(x.call.id, work{x.attempt}).second);
}

void dispatch_world::see(const core::start_control& x) {
  const auto attempt = watch_.of(x.call.id).attempt;
  REQUIRE(works_.emplace(x.call.id, work{attempt, true}).second);
}

void dispatch_world::see(const core::stop_work& x) {
  if (const auto i = works_.find(x.call); i != works_.end())
    i->second.stop = true;
}

void dispatch_world::see(const core::cancel_approval& x) {
  asked_.erase(x.call);
  if (pending(x.call)) withdrawn_.insert(x.call);
}

void dispatch_world::see(const core::settle_call& x) {
  CAPTURE(x.call.id.value);
  // Its decision, if one was asked for in this life, is on its way before.
  REQUIRE_FALSE((asked_.contains(x.call.id) || withdrawn_.contains(x.call.id)));
  if (x.call.control) works_.erase(x.call.id);
  log_.push_back(
      {record::kind::settled, x.call.id, x.attempt, x.announced, x.result.how});
}

void dispatch_world::see(const core::calls_drained&) {
  log_.push_back({record::kind::drained, {}});
}

bool dispatch_world::recorded(record::kind what, const call_id& id,
                              std::size_t end) const {
  return std::any_of(
      log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(end),
      [&](const record& x) { return x.what == what && x.id == id; });
}

/// What a reader of the whole log sees of each call (promises 2, 3 and 6).
void dispatch_world::check_log() const {
  std::map<call_id, int> begun;
  std::map<call_id, int> settled;
  const auto all_settled = [&] {
    for (const auto& [id, n] : begun) REQUIRE(settled[id] == 1);
  };
  std::set<call_id> undecided;
  for (const auto& x : log_) {
    CAPTURE(x.id.value);
    if (x.what == record::kind::asked) undecided.insert(x.id);
    if (x.what == record::kind::decided) undecided.erase(x.id);
    if (x.what == record::kind::begun || x.what == record::kind::settled)
      REQUIRE_FALSE(undecided.contains(x.id));
    if (x.what == record::kind::begun) {
      REQUIRE(settled[x.id] == 0);
      begun[x.id] += x.flag ? 1 : 0;
      REQUIRE(begun[x.id] == 1);
    } else if (x.what == record::kind::settled) {
      REQUIRE(++settled[x.id] == 1);
      begun[x.id] += x.flag ? 0 : 1;
      REQUIRE(begun[x.id] == 1);
    } else if (x.what == record::kind::step ||
               x.what == record::kind::drained) {
      all_settled();
    } else if (x.what == record::kind::decided) {
      REQUIRE((begun[x.id] == 0 && settled[x.id] == 0));
    }
  }
  all_settled();
  for (const auto& x : log_)
    if (x.what == record::kind::message)
      for (const auto& call : x.calls) REQUIRE(settled[call.id] == 1);
}

}  // namespace riffle::testing
