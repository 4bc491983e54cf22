// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limited_transport.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/model/rate_limited_state.hpp"

namespace riffle::model {

namespace {

constexpr const char* op = "model request";
constexpr std::size_t most_waiting = 65536;
constexpr duration default_wait = std::chrono::minutes{10};
constexpr duration longest_wait = std::chrono::hours{24 * 366};

transport_end failed(errc code, std::string why, bool retryable) {
  transport_end end;
  end.failure = error{code, op, std::move(why), retryable, {}};
  return end;
}

transport_end cancelled() {
  return failed(errc::cancelled, "the request was cancelled", false);
}

std::string describe(const transport_limits& x) {
  return "the limits of the model are max_concurrent = " +
         std::to_string(x.max_concurrent) +
         " and requests_per_minute = " + std::to_string(x.requests_per_minute) +
         (x.paced ? ", and what the provider says is left of its own" : "");
}

transport_end waited(const transport_limits& limits, duration length) {
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(length).count();
  return failed(errc::timeout,
                "the request could not start within " + std::to_string(ms) +
                    " ms (timeouts.total): " + describe(limits) +
                    ", and others came first",
                true);
}

std::size_t sum(std::size_t a, std::size_t b) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  return b > most - a ? most : a + b;
}

void tell(std::vector<limited_end> all) {
  for (auto& x : all) x.listener->on_end(std::move(x.how));
}

class rate_limited_transport final
    : public transport,
      public limited_work,
      public std::enable_shared_from_this<rate_limited_transport> {
 public:
  rate_limited_transport(std::shared_ptr<transport> inner,
                         limited_state_ptr state)
      : inner_{std::move(inner)}, state_{std::move(state)} {}
  ~rate_limited_transport() override;
  rate_limited_transport(const rate_limited_transport&) = delete;
  rate_limited_transport& operator=(const rate_limited_transport&) = delete;

  transfer_id open(transport_request request, listener_ptr listener) override;
  void grant(transfer_id id, std::size_t bytes) override;
  void cancel(transfer_id id) override;

  void work() override;

 private:
  struct started {
    transfer_id id;
    time_point begun;
    bool held;  ///< and its listener knows
    transport_request request;
    listener_ptr listener;
  };

  transfer_id admit(std::unique_lock<std::mutex> lock, transfer_id id,
                    limited_transfer x);
  started take(transfer_id id, time_point now);
  void start(started x);

  const std::shared_ptr<transport> inner_;
  const limited_state_ptr state_;
  transfer_id last_id_ = 0;
};

rate_limited_transport::~rate_limited_transport() {
  std::vector<limited_end> endings;
  std::vector<transfer_id> open;
  {
    std::lock_guard lock{state_->mutex};
    endings = std::exchange(state_->endings, {});
    for (auto& [id, x] : state_->transfers) {
      if (x.at == limited_transfer::phase::open) open.push_back(x.inner);
      if (x.at != limited_transfer::phase::waiting) continue;
      state_->gate.withdraw(id);
      endings.push_back({std::move(x.listener), cancelled()});
    }
  }
  for (const auto id : open) inner_->cancel(id);
  tell(std::move(endings));
}

transfer_id rate_limited_transport::open(transport_request request,
                                         listener_ptr listener) {
  limited_transfer x;
  const auto total = request.timeouts.total;
  x.wait = total > duration{} ? std::min(total, longest_wait) : default_wait;
  x.request = std::move(request);
  x.listener = std::move(listener);
  std::unique_lock lock{state_->mutex};
  const auto id = ++last_id_;
  if (state_->gate.waiting() >= most_waiting) {
    state_->endings.push_back(
        {std::move(x.listener),
         failed(errc::model_rate_limited,
                "too many requests wait already: " + describe(state_->limits),
                true)});
    wake_at(state_, std::move(lock), state_->now());
    return id;
  }
  return admit(std::move(lock), id, std::move(x));
}

transfer_id rate_limited_transport::admit(std::unique_lock<std::mutex> lock,
                                          transfer_id id, limited_transfer x) {
  const auto now = state_->now();
  const auto until = now + x.wait;
  const bool again = x.request.again;
  state_->transfers.emplace(id, std::move(x));
  if (state_->gate.try_start(now, again)) {
    auto begun = take(id, now);
    lock.unlock();
    start(std::move(begun));
    return id;
  }
  state_->gate.wait(id, until, again);
  state_->untold.push_back(id);
  const auto due = state_->gate.held_until(now)
                       ? now  // to be told so
                       : state_->gate.next().value_or(now);
  wake_at(state_, std::move(lock), std::max(now, due));
  return id;
}

void rate_limited_transport::grant(transfer_id id, std::size_t bytes) {
  transfer_id at_inner = 0;
  {
    std::lock_guard lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    if (i == state_->transfers.end()) return;
    auto& x = i->second;
    if (x.at == limited_transfer::phase::waiting)
      x.request.credit = sum(x.request.credit, bytes);
    if (x.at == limited_transfer::phase::starting)
      x.granted = sum(x.granted, bytes);
    if (x.at != limited_transfer::phase::open) return;
    at_inner = x.inner;
  }
  inner_->grant(at_inner, bytes);
}

void rate_limited_transport::cancel(transfer_id id) {
  std::unique_lock lock{state_->mutex};
  const auto i = state_->transfers.find(id);
  if (i == state_->transfers.end()) return;
  auto& x = i->second;
  x.cancelled = true;
  if (x.at == limited_transfer::phase::open) {
    const auto at_inner = x.inner;
    lock.unlock();
    inner_->cancel(at_inner);
  } else if (x.at == limited_transfer::phase::waiting) {
    state_->gate.withdraw(id);
    state_->endings.push_back({std::move(x.listener), cancelled()});
    state_->transfers.erase(i);
    wake_at(state_, std::move(lock), state_->now());
  }
}

void rate_limited_transport::work() {
  std::vector<started> begun;
  std::vector<limited_end> endings;
  std::vector<held_word> held;
  {
    std::lock_guard lock{state_->mutex};
    const auto now = state_->now();
    auto moves = state_->gate.poll(now);
    endings = std::exchange(state_->endings, {});
    for (const auto id : moves.expired) {
      auto x = state_->transfers.extract(id);
      endings.push_back({std::move(x.mapped().listener),
                         waited(state_->limits, x.mapped().wait)});
    }
    for (const auto id : moves.started) begun.push_back(take(id, now));
    held = held_words(*state_, now);
  }
  for (const auto& x : held) x.to->on_held(x.next);
  for (auto& x : begun) start(std::move(x));
  tell(std::move(endings));
  report_capacity(state_);
  std::unique_lock lock{state_->mutex};
  auto next = state_->gate.next();
  if (next && state_->tell_again) next = std::min(*next, *state_->tell_again);
  if (next) wake_at(state_, std::move(lock), std::max(*next, state_->now()));
}

/// What `start` needs of a transfer whose turn has come. With the lock.
rate_limited_transport::started rate_limited_transport::take(transfer_id id,
                                                             time_point now) {
  auto& x = state_->transfers.at(id);
  x.at = limited_transfer::phase::starting;
  x.begun = now;
  return {id, now, x.held, std::move(x.request), std::move(x.listener)};
}

/// It may end, and be cancelled and granted more, before `inner` answers.
void rate_limited_transport::start(started x) {
  if (x.held) x.listener->on_sent();
  const auto at_inner = inner_->open(
      std::move(x.request),
      make_limited_relay(state_, x.id, x.begun, std::move(x.listener)));
  std::unique_lock lock{state_->mutex};
  const auto i = state_->transfers.find(x.id);
  if (i == state_->transfers.end()) return;
  i->second.at = limited_transfer::phase::open;
  i->second.inner = at_inner;
  const auto granted = i->second.granted;
  const bool stop = i->second.cancelled;
  lock.unlock();
  if (granted > 0) inner_->grant(at_inner, granted);
  if (stop) inner_->cancel(at_inner);
}

}  // namespace

std::shared_ptr<transport> make_rate_limited_transport(
    std::shared_ptr<transport> inner, transport_limits limits, timer& clock,
    time_source now, capacity_listener on_capacity) {
  if (limits.max_concurrent == 0 && limits.requests_per_minute == 0 &&
      !limits.paced)
    return inner;
  if (!now) now = [] { return std::chrono::steady_clock::now(); };
  auto state = std::make_shared<limited_state>(limits, clock, std::move(now),
                                               std::move(on_capacity));
  auto made = std::make_shared<rate_limited_transport>(std::move(inner), state);
  state->owner = made;
  return made;
}

}  // namespace riffle::model
