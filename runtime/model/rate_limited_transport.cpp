// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limited_transport.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace riffle::model {

namespace {

constexpr const char* op = "model request";
constexpr std::size_t most_waiting = 65536;
constexpr duration default_wait = std::chrono::minutes{10};
constexpr duration longest_wait = std::chrono::hours{24 * 366};

using listener_ptr = std::shared_ptr<transfer_listener>;

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

/// A transfer from `open` to its end.
struct transfer {
  enum class phase : std::uint8_t {
    waiting,   ///< has its request
    starting,  ///< `inner` is being asked
    open,      ///< has a number at `inner`
  };

  phase at = phase::waiting;
  transport_request request;
  listener_ptr listener;
  duration wait{};
  transfer_id inner = 0;
  std::size_t granted = 0;  ///< while starting
  bool cancelled = false;   ///< while starting
};

/// An end that nobody but this transport tells of.
struct ending {
  listener_ptr listener;
  transport_end how;
};

void tell(std::vector<ending> all) {
  for (auto& x : all) x.listener->on_end(std::move(x.how));
}

class rate_limited_transport;

/// What transfers that are open share with the transport; it does not own the
/// inner one, whose threads may hold the last reference.
struct shared_state {
  shared_state(transport_limits x, timer& t, time_source n,
               capacity_listener told)
      : limits{x},
        clock{t},
        now{std::move(n)},
        on_capacity{std::move(told)},
        gate{x} {}

  const transport_limits limits;
  timer& clock;
  const time_source now;
  const capacity_listener on_capacity;

  std::mutex mutex;  ///< of all below; never held while calling out
  rate_limiter gate;
  std::map<transfer_id, transfer> transfers;
  std::vector<ending> endings;
  std::set<time_point> armed;  ///< wake-ups that are under way
  std::weak_ptr<rate_limited_transport> owner;
};

using state_ptr = std::shared_ptr<shared_state>;

/// Asks for a wake-up at the latest at `at`, unless there is one. With the
/// lock, which it gives back.
void wake_at(const state_ptr& s, std::unique_lock<std::mutex> lock,
             time_point at);

/// Passes on what `inner` brings, and makes room when it ends.
class relay final : public transfer_listener {
 public:
  relay(state_ptr state, transfer_id id, listener_ptr to)
      : state_{std::move(state)}, id_{id}, to_{std::move(to)} {}

  void on_pace(duration wait) override {
    {
      const std::lock_guard lock{state_->mutex};
      if (state_->limits.paced) state_->gate.pace(wait, state_->now());
    }
    to_->on_pace(wait);
  }

  void on_bytes(std::string bytes) override { to_->on_bytes(std::move(bytes)); }

  void on_end(transport_end end) override {
    const auto to = std::exchange(to_, nullptr);
    const auto said = of(end);
    // The gate learns first: who tries again at once finds it closed.
    std::unique_lock lock{state_->mutex};
    const auto before = state_->gate.capacity();
    if (state_->limits.paced && said.answered) learn(said);
    const auto after = state_->gate.capacity();
    state_->transfers.erase(id_);
    state_->gate.on_end();
    lock.unlock();
    if (before != after && state_->on_capacity) state_->on_capacity(after);
    to->on_end(std::move(end));
    lock.lock();
    if (state_->gate.waiting() > 0)
      wake_at(state_, std::move(lock), state_->now());
  }

 private:
  /// What an answer says of the server's limits.
  struct words {
    bool answered = false;
    bool refused = false;
    bool accepted = false;
    duration pace{};
    std::optional<duration> retry_after;
  };

  static words of(const transport_end& end) {
    words x;
    x.answered = end.http_status != 0;
    x.accepted = end.http_status >= 200 && end.http_status < 300;
    x.pace = end.pace.value_or(duration{});
    x.retry_after = end.retry_after;
    // A quota that is used up does not come back by waiting.
    x.refused = end.failure && end.failure->retryable &&
                (end.http_status == 429 || end.retry_after);
    return x;
  }

  /// With the lock.
  void learn(const words& x) const {
    auto& gate = state_->gate;
    const auto now = state_->now();
    gate.pace(x.pace, now);
    if (x.refused)
      gate.refuse(x.retry_after, now);
    else if (x.accepted)
      gate.accept();
  }

  state_ptr state_;
  transfer_id id_;
  listener_ptr to_;
};

class rate_limited_transport final
    : public transport,
      public std::enable_shared_from_this<rate_limited_transport> {
 public:
  rate_limited_transport(std::shared_ptr<transport> inner, state_ptr state)
      : inner_{std::move(inner)}, state_{std::move(state)} {}
  ~rate_limited_transport() override;
  rate_limited_transport(const rate_limited_transport&) = delete;
  rate_limited_transport& operator=(const rate_limited_transport&) = delete;

  transfer_id open(transport_request request, listener_ptr listener) override;
  void grant(transfer_id id, std::size_t bytes) override;
  void cancel(transfer_id id) override;

  /// Starts and ends what is due. On the timer's thread.
  void work();

 private:
  struct started {
    transfer_id id;
    transport_request request;
    listener_ptr listener;
  };

  transfer_id admit(std::unique_lock<std::mutex> lock, transfer_id id,
                    transfer x);
  started take(transfer_id id);
  void start(started x);

  const std::shared_ptr<transport> inner_;
  const state_ptr state_;
  transfer_id last_id_ = 0;
};

void wake_at(const state_ptr& s, std::unique_lock<std::mutex> lock,
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

rate_limited_transport::~rate_limited_transport() {
  std::vector<ending> endings;
  std::vector<transfer_id> open;
  {
    std::lock_guard lock{state_->mutex};
    endings = std::exchange(state_->endings, {});
    for (auto& [id, x] : state_->transfers) {
      if (x.at == transfer::phase::open) open.push_back(x.inner);
      if (x.at != transfer::phase::waiting) continue;
      state_->gate.withdraw(id);
      endings.push_back({std::move(x.listener), cancelled()});
    }
  }
  for (const auto id : open) inner_->cancel(id);
  tell(std::move(endings));
}

transfer_id rate_limited_transport::open(transport_request request,
                                         listener_ptr listener) {
  transfer x;
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
                                          transfer_id id, transfer x) {
  const auto now = state_->now();
  const auto until = now + x.wait;
  state_->transfers.emplace(id, std::move(x));
  if (state_->gate.try_start(now)) {
    auto begun = take(id);
    lock.unlock();
    start(std::move(begun));
    return id;
  }
  state_->gate.wait(id, until);
  wake_at(state_, std::move(lock),
          std::max(now, state_->gate.next().value_or(now)));
  return id;
}

void rate_limited_transport::grant(transfer_id id, std::size_t bytes) {
  transfer_id at_inner = 0;
  {
    std::lock_guard lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    if (i == state_->transfers.end()) return;
    auto& x = i->second;
    if (x.at == transfer::phase::waiting)
      x.request.credit = sum(x.request.credit, bytes);
    if (x.at == transfer::phase::starting) x.granted = sum(x.granted, bytes);
    if (x.at != transfer::phase::open) return;
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
  if (x.at == transfer::phase::open) {
    const auto at_inner = x.inner;
    lock.unlock();
    inner_->cancel(at_inner);
  } else if (x.at == transfer::phase::waiting) {
    state_->gate.withdraw(id);
    state_->endings.push_back({std::move(x.listener), cancelled()});
    state_->transfers.erase(i);
    wake_at(state_, std::move(lock), state_->now());
  }
}

void rate_limited_transport::work() {
  std::vector<started> begun;
  std::vector<ending> endings;
  {
    std::lock_guard lock{state_->mutex};
    auto moves = state_->gate.poll(state_->now());
    endings = std::exchange(state_->endings, {});
    for (const auto id : moves.expired) {
      auto x = state_->transfers.extract(id);
      endings.push_back({std::move(x.mapped().listener),
                         waited(state_->limits, x.mapped().wait)});
    }
    for (const auto id : moves.started) begun.push_back(take(id));
  }
  for (auto& x : begun) start(std::move(x));
  tell(std::move(endings));
  std::unique_lock lock{state_->mutex};
  if (const auto next = state_->gate.next())
    wake_at(state_, std::move(lock), std::max(*next, state_->now()));
}

/// What `start` needs of a transfer whose turn has come. With the lock.
rate_limited_transport::started rate_limited_transport::take(transfer_id id) {
  auto& x = state_->transfers.at(id);
  x.at = transfer::phase::starting;
  return {id, std::move(x.request), std::move(x.listener)};
}

/// It may end, and be cancelled and granted more, before `inner` answers.
void rate_limited_transport::start(started x) {
  const auto at_inner = inner_->open(
      std::move(x.request),
      std::make_shared<relay>(state_, x.id, std::move(x.listener)));
  std::unique_lock lock{state_->mutex};
  const auto i = state_->transfers.find(x.id);
  if (i == state_->transfers.end()) return;
  i->second.at = transfer::phase::open;
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
  auto state = std::make_shared<shared_state>(limits, clock, std::move(now),
                                              std::move(on_capacity));
  auto made = std::make_shared<rate_limited_transport>(std::move(inner), state);
  state->owner = made;
  return made;
}

}  // namespace riffle::model
