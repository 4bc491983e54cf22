// SPDX-License-Identifier: MIT
// The dispatch queue beside its obvious form: the same random events must have
// the same effects, in the same order, at every step.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/dispatch_watch.hpp"
#include "tests/core/obvious_queue.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;
using riffle::testing::letters;
using riffle::testing::obvious_queue;

namespace {

class pair_of_queues {
 public:
  pair_of_queues(unsigned seed, unsigned calls) : random_{seed}, most_{calls} {
    dispatch_limits limits;
    limits.max_in_flight = 1 + below(chance(50) ? 4 : 40);
    limits.abandon_at_node = 13s;
    limits.ask_ahead = chance(50);
    real_ = dispatch_queue{limits};
    obvious_ = obvious_queue{limits};
    if (chance(20)) restore();
  }

  void play(int events) {
    for (int i = 0; i < events; ++i) {
      CAPTURE(i);
      if (chance(60)) now_ += std::chrono::milliseconds{below(1500)};
      act();
      REQUIRE(real_.due() == obvious_.due());
      REQUIRE(real_.open() == obvious_.open());
      REQUIRE(real_.abandoned() == obvious_.abandoned());
      REQUIRE(real_.late() == obvious_.late());
    }
  }

  [[nodiscard]] std::size_t effects() const { return effects_; }

 private:
  struct work {
    call_id id;
    std::uint32_t attempt = 1;
  };

  // What may happen, more often what a run is made of.
  void act() {
    const auto what = below(100);
    if (what < 25) return call();
    if (what < 45) return result();
    if (what < 50) return lose();
    if (what < 60) return commit();
    if (what < 68) return decide();
    if (what < 74) return started();
    if (what < 80) return both([&](auto& q) { return q.tick(now_); });
    if (what < 83) return jump();
    if (what < 86) return progress();
    if (what < 90) return gate();
    if (what < 93) return spoil();
    if (what < 96) return cancel();
    if (what < 98) return next_step();
    drain();
  }

  template <class F>
  void both(F f) {
    const dispatch_effects mine = f(real_);
    const dispatch_effects theirs = f(obvious_);
    CAPTURE(letters(mine), letters(theirs));
    REQUIRE(mine == theirs);
    effects_ += mine.size();
    for (const auto& x : mine) std::visit([this](const auto& y) { see(y); }, x);
  }

  void see(const request_approval& x) { asked_.push_back(x.call); }
  void see(const begin_call& x) {
    const bool at_node = chance(30);
    real_.on_placed(x.call.id, at_node);
    obvious_.on_placed(x.call.id, at_node);
    if (x.await_commit) intents_.push_back({x.call.id, x.attempt});
  }
  void see(const start_work& x) { works_.push_back({x.call.id, x.attempt}); }
  void see(const start_control& x) { works_.push_back({x.call.id, x.attempt}); }
  void see(const calls_drained&) { gated_ = false; }
  template <class Other>
  void see(const Other&) {}

  tool_call random_call() {
    static const std::vector<std::string> keys{
        "",     "/",      ".",       "/a",     "/a/",      "/a/b",
        "/a/c", "/a/b/c", "/a/b/c/", "/b",     "/b/x/y/z", "b",
        "./",   "a//",    "a//b",    "a/b",    "/ab",      "/a/bc",
        "//",   "/b/x",   "/b/x/y/", "/c/d/e", "/c/d/f",   "/c"};
    tool_call x;
    x.id = call_id{"call_" + std::to_string(++calls_)};
    x.tool = chance(10) ? "other" : "tool";
    x.arguments = std::to_string(below(6));
    x.control = chance(6);
    x.eff = chance(55) ? effect::read_only : effect::mutating;
    x.idempotent = chance(30);
    x.needs_approval = chance(x.eff == effect::mutating ? 25 : 8);
    for (auto n = chance(90) ? 1 + below(2) : 0; n > 0; --n)
      x.keys.push_back(keys[below(static_cast<unsigned>(keys.size()))]);
    x.limits.attempts = 1 + below(3);
    if (chance(40)) x.limits.timeout = 10s;
    if (chance(30)) x.limits.idle_timeout = 5s;
    if (chance(50)) x.limits.queue_timeout = 20s;
    if (chance(4)) x.rejection = error{errc::truncated, "parser", "cut off"};
    return x;
  }

  void call() {
    if (ids_.size() >= most_) return;
    const auto x = random_call();
    ids_.push_back(x.id);
    both([&](auto& q) { return q.on_call(x, now_); });
  }

  void restore() {
    std::vector<restored_call> open;
    std::vector<finished_read> finished;
    for (auto n = below(12); n > 0; --n) {
      restored_call r;
      r.call = random_call();
      ids_.push_back(r.call.id);
      r.begun = chance(30);
      r.announced = r.begun || chance(30);
      r.attempt = r.begun ? 1 + below(2) : 0;
      if (chance(20)) r.approved = chance(70);
      r.asked = r.call.needs_approval && !r.approved && chance(50);
      r.again = r.asked && chance(30);
      r.doubted = chance(20);
      if (chance(10)) r.call.edited_from = "{}";
      open.push_back(std::move(r));
      finished.push_back({call_id{"old_" + std::to_string(n)}, "tool",
                          std::to_string(below(6)), "it was so"});
    }
    real_.restore(open, finished);
    obvious_.restore(open, finished);
  }

  /// One of those that were seen, or now and then any; it may come twice.
  work take_from(std::vector<work>& all) {
    if (all.empty() || chance(3)) return {any(), 1};
    const auto i = all.begin() + below(static_cast<unsigned>(all.size()));
    const auto x = *i;
    if (!chance(3)) all.erase(i);
    return x;
  }
  call_id any() {
    if (ids_.empty()) return call_id{"nobody"};
    return ids_[below(static_cast<unsigned>(ids_.size()))];
  }

  void result() {
    const auto x = take_from(works_);
    call_result y;
    y.output = "output of " + x.id.value;
    if (chance(20)) {
      y.how = outcome::failed;
      y.err = error{errc::tool_execution_error, "tool", "as it is"};
    }
    both([&](auto& q) { return q.on_result(x.id, x.attempt, y, 0, now_); });
  }
  void lose() {
    const auto x = take_from(works_);
    both([&](auto& q) {
      return q.on_worker_lost(x.id, x.attempt, "lost", now_);
    });
  }
  void commit() {
    const auto x = take_from(intents_);
    both([&](auto& q) { return q.on_intent_committed(x.id, x.attempt, now_); });
  }
  void started() {
    if (works_.empty()) return;
    const auto& x = works_[below(static_cast<unsigned>(works_.size()))];
    both([&](auto& q) { return q.on_started(x.id, x.attempt, now_); });
  }
  void progress() {
    if (works_.empty()) return;
    const auto& x = works_[below(static_cast<unsigned>(works_.size()))];
    real_.on_progress(x.id, x.attempt, now_);
    obvious_.on_progress(x.id, x.attempt, now_);
  }
  void decide() {
    if (asked_.empty()) return;
    const auto i = asked_.begin() + below(static_cast<unsigned>(asked_.size()));
    auto x = *i;
    if (!chance(5)) asked_.erase(i);
    if (chance(10))
      return both([&](auto& q) { return q.on_postponed(x.id, now_); });
    if (!chance(40)) {
      const bool yes = chance(70);
      return both(
          [&](auto& q) { return q.on_decision(x.id, yes, "so", now_); });
    }
    const auto other = random_call();
    x.keys = other.keys;
    if (chance(20)) x.eff = other.eff;
    x.edited_from = std::exchange(x.arguments, other.arguments);
    both([&](auto& q) { return q.on_edited(x, now_); });
  }
  void jump() {
    if (const auto due = real_.due()) now_ = std::max(now_, *due);
    both([&](auto& q) { return q.tick(now_); });
  }
  void gate() {
    if (gated_) return;
    gated_ = chance(60);
    const bool safe = gated_ || chance(50);
    gated_ = true;
    both([&](auto& q) { return q.on_gate(safe, now_); });
  }
  void spoil() {
    const auto id = any();
    const error why{errc::invalid_arguments, "parser", "more text"};
    if (chance(50))
      both([&](auto& q) { return q.on_malformed(id, why, now_); });
  }
  void cancel() {
    const auto id = any();
    if (chance(50)) both([&](auto& q) { return q.on_cancel(id, now_); });
  }
  void next_step() {
    if (real_.open() > 0) return;
    real_.on_next_step();
    obvious_.on_next_step();
    gated_ = false;
    ids_.clear();
  }
  void drain() {
    if (!chance(40)) return;
    const auto why =
        chance(50) ? drain_reason::interrupted : drain_reason::cancelled;
    both([&](auto& q) { return q.on_drain(why, now_); });
    ids_.clear();
  }

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::mt19937 random_;
  unsigned most_;
  dispatch_queue real_;
  obvious_queue obvious_;
  time_point now_ = time_point{} + 1h;
  bool gated_ = false;
  unsigned calls_ = 0;
  std::vector<call_id> ids_;
  std::vector<work> works_;
  std::vector<work> intents_;
  std::vector<tool_call> asked_;
  std::size_t effects_ = 0;
};

}  // namespace

TEST_CASE("any events have the effects that looking at all calls has") {
  const unsigned first = riffle::testing::fresh_seed();
  WARN("seeds from " << first);
  std::size_t effects = 0;
  for (unsigned i = 0; i < 150; ++i) {
    const auto seed = first + i;
    CAPTURE(seed);
    pair_of_queues both{seed, i % 4 == 0 ? 120U : 12U};
    both.play(400);
    effects += both.effects();
  }
  CHECK(effects > 10'000);
}
