// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limited_state.hpp"

#include <algorithm>
#include <utility>

namespace riffle::model {

void wake_at(const limited_state_ptr& s, std::unique_lock<std::mutex> lock,
             time_point at) {
  if (s->owner.expired()) return;
  if (!s->armed.empty() && *s->armed.begin() <= at) return;
  s->armed.insert(at);
  lock.unlock();
  const auto delay = std::max(duration{}, duration{at - s->now()});
  s->clock.after(delay, [s, at] {
    std::unique_lock inside{s->mutex};
    s->armed.erase(at);
    const auto owner = s->owner.lock();
    inside.unlock();
    if (owner) owner->work();
  });
}

void report_capacity(const limited_state_ptr& s) {
  if (!s->on_capacity) return;
  const std::lock_guard in_order{s->reporting};
  std::unique_lock lock{s->mutex};
  const auto now = s->now();
  const auto most = s->gate.capacity(now);
  const auto more_at = s->gate.more_at(now);
  if (more_at)
    wake_at(s, std::move(lock), *more_at);
  else
    lock.unlock();
  if (std::exchange(s->reported, most) != most) s->on_capacity(most);
}

namespace {

/// Nobody reads of shorter ones.
constexpr duration least_hold = std::chrono::milliseconds{300};
/// All that wait are told anew at most so often.
constexpr duration between_words = std::chrono::seconds{1};

/// Of those that wait: all of them, if what holds them has changed.
std::vector<transfer_id> to_be_told(limited_state& s, time_point until,
                                    time_point now) {
  constexpr auto another = time_point::max();
  const auto before = s.held_until;
  const bool same =
      before && (*before == another) == (until == another) && *before > now;
  if (!same && s.told_at && now < *s.told_at + between_words)
    s.tell_again = *s.told_at + between_words;
  if (same || s.tell_again) return std::exchange(s.untold, {});
  s.untold.clear();
  s.held_until = until;
  s.told_at = now;
  std::vector<transfer_id> out;
  for (const auto& [id, x] : s.transfers)
    if (x.at == limited_transfer::phase::waiting) out.push_back(id);
  return out;
}

}  // namespace

std::vector<held_word> held_words(limited_state& s, time_point now) {
  std::vector<held_word> out;
  s.tell_again.reset();
  const auto until = s.gate.held_until(now);
  if (s.gate.waiting() == 0 || !until || *until - least_hold < now) return out;
  const auto next = *until == time_point::max()
                        ? std::nullopt
                        : std::optional<duration>{*until - now};
  for (const auto id : to_be_told(s, *until, now)) {
    const auto i = s.transfers.find(id);
    if (i == s.transfers.end() ||
        i->second.at != limited_transfer::phase::waiting)
      continue;
    i->second.held = true;
    out.push_back({i->second.listener, next});
  }
  return out;
}

namespace {

/// What the end of an answer says of the server's limits.
struct last_words {
  bool answered = false;
  bool refused = false;
  bool accepted = false;
  duration pace{};
  std::optional<duration> retry_after;
};

last_words words_of(const transport_end& end) {
  last_words x;
  x.answered = end.http_status != 0;
  x.accepted = end.http_status >= 200 && end.http_status < 300;
  x.pace = end.pace.value_or(duration{});
  x.retry_after = end.retry_after;
  // A quota that is used up does not come back by waiting.
  x.refused = end.failure && end.failure->retryable &&
              (end.http_status == 429 || end.retry_after);
  return x;
}

class relay final : public transfer_listener {
 public:
  relay(limited_state_ptr state, transfer_id id, time_point begun,
        listener_ptr to)
      : state_{std::move(state)}, id_{id}, begun_{begun}, to_{std::move(to)} {}

  void on_pace(duration wait) override {
    {
      const std::lock_guard lock{state_->mutex};
      accept();
      if (state_->limits.paced) state_->gate.pace(wait, state_->now());
    }
    report_capacity(state_);
    to_->on_pace(wait);
  }

  /// Its first bytes say that the server took it, long before it ends.
  void on_bytes(std::string bytes) override {
    if (!accepted_) {
      {
        const std::lock_guard lock{state_->mutex};
        accept();
      }
      report_capacity(state_);
    }
    to_->on_bytes(std::move(bytes));
  }

  void on_end(transport_end end) override {
    const auto to = std::exchange(to_, nullptr);
    const auto said = words_of(end);
    // The gate learns first: who tries again at once finds it closed.
    {
      const std::lock_guard lock{state_->mutex};
      if (state_->limits.paced && said.answered) learn(said);
      state_->transfers.erase(id_);
      state_->gate.on_end(accepted_ && state_->limits.paced);
    }
    report_capacity(state_);
    to->on_end(std::move(end));
    std::unique_lock lock{state_->mutex};
    if (state_->gate.waiting() > 0)
      wake_at(state_, std::move(lock), state_->now());
  }

 private:
  /// With the lock.
  void accept() {
    if (std::exchange(accepted_, true)) return;
    if (state_->limits.paced) state_->gate.accept(begun_);
  }

  /// With the lock.
  void learn(const last_words& x) {
    auto& gate = state_->gate;
    const auto now = state_->now();
    gate.pace(x.pace, now);
    if (x.refused)
      gate.refuse(begun_, x.retry_after, now);
    else if (x.accepted)
      accept();
  }

  const limited_state_ptr state_;
  const transfer_id id_;
  const time_point begun_;
  listener_ptr to_;
  bool accepted_ = false;
};

}  // namespace

listener_ptr make_limited_relay(limited_state_ptr state, transfer_id id,
                                time_point begun, listener_ptr to) {
  return std::make_shared<relay>(std::move(state), id, begun, std::move(to));
}

}  // namespace riffle::model
