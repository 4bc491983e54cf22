// SPDX-License-Identifier: MIT
// What may happen next in the dispatch world: the model, the journal, the
// tracker, the workers, time and trouble.
#include <algorithm>

#include "tests/core/dispatch_world.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

using namespace std::chrono_literals;

std::vector<dispatch_world::action> dispatch_world::actions() {
  std::vector<action> out;
  add_model(out);
  add_journal(out);
  add_tracker(out);
  for (auto& [id, x] : works_) add_work(out, id, x);
  if (!mail_.empty())
    out.emplace_back(8, [this] {
      auto message = std::move(mail_.front());
      mail_.pop_front();
      message();
      echoes_.push_back(std::move(message));
    });
  if (!answers_.empty())
    out.emplace_back(6, [this] {
      const auto judge = std::move(answers_.front());
      answers_.pop_front();
      judge();
    });
  add_time(out);
  // Neither a cancel nor a crash is needed to go on.
  INFO("open: " << queue_.open());
  REQUIRE_FALSE(out.empty());
  if (!calm_) add_trouble(out);
  return out;
}

void dispatch_world::add_model(std::vector<action>& out) {
  if (draining_) return;
  if (!gated_ && told_ < plan_.size())
    out.emplace_back(6, [this] { tell_next_call(); });
  if (!gated_ && told_ == plan_.size())
    out.emplace_back(6, [this] { end_turn(); });
  const bool over = gated_ && queue_.open() == 0 && stored_ == log_.size();
  if (!over) return;
  out.emplace_back(6, [this] {
    if (steps_ == 2) {
      done_ = true;
      return;
    }
    queue_.on_next_step();
    watch_.next_step();
    begin_step();
  });
}

void dispatch_world::add_journal(std::vector<action>& out) {
  if (stored_ < log_.size()) out.emplace_back(6, [this] { store_some(); });
  if (!notices_.empty())
    out.emplace_back(8, [this] {
      auto notice = std::move(notices_.front());
      notices_.pop_front();
      notice();
    });
}

void dispatch_world::add_tracker(std::vector<action>& out) {
  for (const auto& id : asked_)
    out.emplace_back(2, [this, id] { decide(id, chance(75)); });
  for (const auto& id : withdrawn_)
    out.emplace_back(4, [this, id] { decide(id, false); });
}

void dispatch_world::add_work(std::vector<action>& out, const call_id& id,
                              work& x) {
  if (!x.running && x.stop) {
    out.emplace_back(4, [this, id] { finish(id, outcome::cancelled); });
    return;
  }
  if (!x.running) {
    if (!mute_ || x.control || chance(50))
      out.emplace_back(3, [this, id] { start(id); });
    if (!calm_ && calls_.at(id).judged)
      out.emplace_back(2, [this, id] { move(id); });
    return;
  }
  if (mute_ && !x.control) return;
  const auto how = x.stop       ? outcome::cancelled
                   : chance(20) ? outcome::failed
                                : outcome::ok;
  out.emplace_back(3, [this, id, how] { finish(id, how); });
  if (x.control || calm_) return;
  out.emplace_back(1, [this, id] { die(id); });
  out.emplace_back(1, [this, id, attempt = x.attempt] {
    queue_.on_progress(id, attempt, now_);
  });
}

void dispatch_world::add_time(std::vector<action>& out) {
  // Seconds pass only when everybody who is alive has had the time to answer.
  const bool hurry =
      !mail_.empty() || !answers_.empty() || !notices_.empty() ||
      stored_ < log_.size() || !withdrawn_.empty() ||
      std::ranges::any_of(
          works_,
          [](const auto& w) { return w.second.stop && !w.second.running; });
  const auto due = queue_.due();
  if (due && !hurry)
    out.emplace_back(calm_ ? 1 : 2, [this, when = *due] {
      now_ = std::max(now_, when);
      take(queue_.tick(now_));
      REQUIRE((!queue_.due() || *queue_.due() > now_));
    });
}

void dispatch_world::add_trouble(std::vector<action>& out) {
  out.emplace_back(1, [this] {
    if (const auto next = queue_.due(); next && *next <= now_ + 10ms) return;
    now_ += 10ms;
    // Before its time a tick finds nothing to do: no wake-up was missed.
    REQUIRE(queue_.tick(now_).empty());
  });
  if (!echoes_.empty() && chance(20))
    out.emplace_back(
        1, [this] { echoes_[below(static_cast<unsigned>(echoes_.size()))](); });
  const auto open = watch_.open();
  if (!open.empty() && chance(15))
    out.emplace_back(
        1, [this, id = open[below(static_cast<unsigned>(open.size()))]] {
          take(queue_.on_cancel(id, now_));
        });
  if (!gated_ && !draining_ && !open.empty() && told_ > 0 && chance(10))
    out.emplace_back(1, [this, id = plan_[told_ - 1].id] {
      take(queue_.on_malformed(
          id, {errc::invalid_arguments, "parser", "more text came"}, now_));
    });
  if (!gated_ && !draining_ && chance(10))
    out.emplace_back(1, [this] { drain(core::drain_reason::interrupted); });
  if (!draining_ && chance(4))
    out.emplace_back(1, [this] {
      last_drain_ = true;
      drain(chance(50) ? core::drain_reason::cancelled
                       : core::drain_reason::timed_out);
    });
  if (crashes_ < 4 && chance(15)) out.emplace_back(1, [this] { crash(); });
}

}  // namespace riffle::testing
