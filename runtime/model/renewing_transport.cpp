// SPDX-License-Identifier: MIT
#include "runtime/model/renewing_transport.hpp"

#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "runtime/base/log.hpp"

namespace riffle::model {

namespace {

constexpr const char* op = "model request";
constexpr int unauthorized = 401;

using listener_ptr = std::shared_ptr<transfer_listener>;

transport_end cancelled() {
  transport_end out;
  out.failure =
      error{errc::cancelled, op, "the request was cancelled", false, {}};
  return out;
}

/// A transfer until its end.
struct transfer {
  std::optional<transport_request> again;  ///< while it may be asked again
  int round = 0;                           ///< which time it is asked
  bool open = false;  ///< this time has a number at `inner`
  transfer_id inner = 0;
  std::size_t granted = 0;  ///< while it has none
  std::stop_source stop{};  ///< asked while it has none: it was cancelled
};

class renewing_transport;

struct shared_state {
  std::mutex mutex;  ///< never held while calling out
  std::map<transfer_id, transfer> transfers;
  std::weak_ptr<renewing_transport> owner;
};

using state_ptr = std::shared_ptr<shared_state>;

class relay final : public transfer_listener,
                    public std::enable_shared_from_this<relay> {
 public:
  relay(state_ptr state, transfer_id id, listener_ptr to)
      : state_{std::move(state)}, id_{id}, to_{std::move(to)} {}

  void on_pace(duration wait) override { to_->on_pace(wait); }
  void on_held(std::optional<duration> next) override { to_->on_held(next); }
  void on_sent() override { to_->on_sent(); }
  void on_bytes(std::string bytes) override {
    forget_request();
    to_->on_bytes(std::move(bytes));
  }
  void on_end(transport_end end) override;

  /// The last word to the listener.
  void tell(transport_end end) {
    const auto to = std::exchange(to_, nullptr);
    {
      const std::lock_guard lock{state_->mutex};
      state_->transfers.erase(id_);
    }
    if (to) to->on_end(std::move(end));
  }

 private:
  void forget_request() {
    if (std::exchange(begun_, true)) return;
    const std::lock_guard lock{state_->mutex};
    if (const auto i = state_->transfers.find(id_);
        i != state_->transfers.end())
      i->second.again.reset();
  }

  state_ptr state_;
  transfer_id id_;
  listener_ptr to_;
  bool begun_ = false;
};

using relay_ptr = std::shared_ptr<relay>;

/// An end that is told unless something better comes; also when the executor
/// drops the job that holds it.
struct pending_end {
  pending_end(relay_ptr x, transport_end y)
      : to{std::move(x)}, end{std::move(y)} {}
  ~pending_end() {
    if (to) to->tell(std::move(end));
  }
  pending_end(const pending_end&) = delete;
  pending_end& operator=(const pending_end&) = delete;

  relay_ptr to;
  transport_end end;
};

class renewing_transport final
    : public transport,
      public std::enable_shared_from_this<renewing_transport> {
 public:
  renewing_transport(std::shared_ptr<transport> inner,
                     std::shared_ptr<key_renewal> keys,
                     std::shared_ptr<executor> where, state_ptr state)
      : inner_{std::move(inner)},
        keys_{std::move(keys)},
        where_{std::move(where)},
        state_{std::move(state)} {}

  ~renewing_transport() override {
    std::vector<transfer_id> all;
    {
      const std::lock_guard lock{state_->mutex};
      for (const auto& [id, x] : state_->transfers)
        if (x.open) all.push_back(x.inner);
    }
    for (const auto id : all) inner_->cancel(id);
  }
  renewing_transport(const renewing_transport&) = delete;
  renewing_transport& operator=(const renewing_transport&) = delete;

  transfer_id open(transport_request request, listener_ptr listener) override {
    keys_->put_key(request);
    std::unique_lock lock{state_->mutex};
    const auto id = ++last_id_;
    transfer x;
    x.again = request;
    state_->transfers.emplace(id, std::move(x));
    lock.unlock();
    start(id, 0, std::move(request),
          std::make_shared<relay>(state_, id, std::move(listener)));
    return id;
  }

  void grant(transfer_id id, std::size_t bytes) override {
    std::unique_lock lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    if (i == state_->transfers.end()) return;
    auto& x = i->second;
    if (!x.open) {
      constexpr auto most = std::numeric_limits<std::size_t>::max();
      x.granted = bytes > most - x.granted ? most : x.granted + bytes;
      return;
    }
    const auto at_inner = x.inner;
    lock.unlock();
    inner_->grant(at_inner, bytes);
  }

  void cancel(transfer_id id) override {
    std::unique_lock lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    if (i == state_->transfers.end()) return;
    auto stop = i->second.stop;
    const bool open = i->second.open;
    const auto at_inner = i->second.inner;
    lock.unlock();
    stop.request_stop();
    if (open) inner_->cancel(at_inner);
  }

  /// `self` goes along: it must not end on the thread of `inner`.
  static void ask_again(std::shared_ptr<renewing_transport> self,
                        transfer_id id, transport_request request, relay_ptr to,
                        transport_end end) {
    const auto where = self->where_;
    auto kept = std::make_shared<pending_end>(std::move(to), std::move(end));
    try {
      where->submit([me = std::move(self), id, kept,
                     again = std::move(request)]() mutable {
        me->renew(id, std::move(again), *kept);
        me.reset();
      });
    } catch (const std::exception& e) {
      log_warn(op, std::string{"no thread to get a new key: "} + e.what());
    }
  }

 private:
  void renew(transfer_id id, transport_request request, pending_end& kept) {
    std::unique_lock lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    const auto stop = i == state_->transfers.end() ? std::stop_token{}
                                                   : i->second.stop.get_token();
    lock.unlock();
    const bool renewed = keys_->renew(request, stop);
    if (stop.stop_requested()) {
      kept.end = cancelled();
      return;
    }
    if (!renewed) return;  // the end is told as it was
    start(id, 1, std::move(request), std::exchange(kept.to, nullptr));
  }

  /// It may end, and be cancelled and granted more, before `inner` answers.
  void start(transfer_id id, int round, transport_request request,
             relay_ptr to) {
    const auto at_inner = inner_->open(std::move(request), std::move(to));
    std::unique_lock lock{state_->mutex};
    const auto i = state_->transfers.find(id);
    if (i == state_->transfers.end() || i->second.round != round) return;
    auto& x = i->second;
    x.open = true;
    x.inner = at_inner;
    const auto granted = std::exchange(x.granted, 0);
    const bool stop = x.stop.stop_requested();
    lock.unlock();
    if (granted > 0) inner_->grant(at_inner, granted);
    if (stop) inner_->cancel(at_inner);
  }

  const std::shared_ptr<transport> inner_;
  const std::shared_ptr<key_renewal> keys_;
  const std::shared_ptr<executor> where_;
  const state_ptr state_;
  transfer_id last_id_ = 0;
};

void relay::on_end(transport_end end) {
  if (end.http_status != unauthorized) return tell(std::move(end));
  std::unique_lock lock{state_->mutex};
  const auto i = state_->transfers.find(id_);
  const bool may = i != state_->transfers.end() && i->second.again &&
                   !i->second.stop.stop_requested();
  // Nobody may keep it alive beyond this: it must not end on this thread.
  auto owner = may ? state_->owner.lock() : nullptr;
  if (!owner) {
    lock.unlock();
    tell(std::move(end));
    return;
  }
  i->second.open = false;
  ++i->second.round;
  auto request = *std::exchange(i->second.again, std::nullopt);
  lock.unlock();
  renewing_transport::ask_again(std::move(owner), id_, std::move(request),
                                shared_from_this(), std::move(end));
}

}  // namespace

std::shared_ptr<transport> make_renewing_transport(
    std::shared_ptr<transport> inner, std::shared_ptr<key_renewal> keys,
    std::shared_ptr<executor> where) {
  auto state = std::make_shared<shared_state>();
  auto made = std::make_shared<renewing_transport>(
      std::move(inner), std::move(keys), std::move(where), state);
  state->owner = made;
  return made;
}

}  // namespace riffle::model
