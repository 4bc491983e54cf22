// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_transport.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/model/scripted_answer.hpp"

namespace riffle::model {

namespace {

/// One answer being played. At most one thread plays it at a time; the lock is
/// not held while the listener is called.
class playback : public std::enable_shared_from_this<playback> {
 public:
  playback(timer& clock, std::vector<scripted_action> actions,
           std::shared_ptr<transfer_listener> listener, std::size_t credit,
           std::size_t bytes_per_read)
      : clock_{clock},
        actions_{std::move(actions)},
        listener_{std::move(listener)},
        credit_{credit},
        bytes_per_read_{bytes_per_read} {}

  void start() { after(duration::zero(), false); }

  void grant(std::size_t bytes) {
    {
      std::lock_guard lock{mutex_};
      credit_ += bytes;
    }
    after(duration::zero(), false);
  }

  void cancel() {
    {
      std::lock_guard lock{mutex_};
      cancelled_ = true;
    }
    after(duration::zero(), false);
  }

  [[nodiscard]] bool over() const {
    std::lock_guard lock{mutex_};
    return !listener_;
  }

 private:
  void after(duration delay, bool wakes) {
    clock_.after(delay,
                 [self = shared_from_this(), wakes] { self->play(wakes); });
  }

  // `wakes`: the pause that was being waited for is over.
  void play(bool wakes) {
    std::unique_lock lock{mutex_};
    if (wakes) waiting_ = false;
    if (playing_) return;
    playing_ = true;
    while (listener_ && (cancelled_ || !waiting_)) {
      if (!play_next(lock)) break;
    }
    playing_ = false;
  }

  // False: nothing can be played now.
  bool play_next(std::unique_lock<std::mutex>& lock) {
    auto& action = actions_[at_];
    if (cancelled_) {
      transport_end end;
      end.failure = error{
          errc::cancelled, "model", "the request was cancelled", false, {}};
      finish(lock, std::move(end));
    } else if (auto* length = std::get_if<duration>(&action)) {
      waiting_ = true;
      const auto delay = *length;
      ++at_;
      lock.unlock();
      after(delay, true);
      lock.lock();
    } else if (auto* end = std::get_if<transport_end>(&action)) {
      finish(lock, std::move(*end));
    } else {
      return deliver(lock);
    }
    return true;
  }

  bool deliver(std::unique_lock<std::mutex>& lock) {
    auto bytes = next_read();
    if (bytes.empty()) return false;
    credit_ -= bytes.size();
    auto listener = listener_;
    lock.unlock();
    listener->on_bytes(std::move(bytes));
    lock.lock();
    return true;
  }

  // What one read brings: the rest of an event, or `bytes_per_read` bytes of
  // as many events as it takes. Empty without credit.
  std::string next_read() {
    std::string out;
    const auto limit = std::min(
        credit_, bytes_per_read_ == 0 ? std::string::npos : bytes_per_read_);
    while (out.size() < limit) {
      const auto* text = std::get_if<std::string>(&actions_[at_]);
      if (text == nullptr) break;
      const auto part = std::min(limit - out.size(), text->size() - offset_);
      out.append(*text, offset_, part);
      offset_ += part;
      if (offset_ < text->size()) break;
      offset_ = 0;
      ++at_;
      if (bytes_per_read_ == 0) break;
    }
    return out;
  }

  void finish(std::unique_lock<std::mutex>& lock, transport_end end) {
    const auto listener = std::exchange(listener_, nullptr);
    lock.unlock();
    listener->on_end(std::move(end));
    lock.lock();
  }

  timer& clock_;
  mutable std::mutex mutex_;
  std::vector<scripted_action> actions_;
  std::shared_ptr<transfer_listener> listener_;  ///< null: it ended
  std::size_t credit_;
  const std::size_t bytes_per_read_;
  std::size_t at_ = 0;
  std::size_t offset_ = 0;  ///< in the bytes of `actions_[at_]`
  bool playing_ = false;
  bool waiting_ = false;
  bool cancelled_ = false;
};

class scripted_transport final : public transport {
 public:
  scripted_transport(script what, timer& clock)
      : script_{std::move(what)}, clock_{clock} {}

  ~scripted_transport() override {
    for (const auto& [id, x] : playing_) x->cancel();
  }
  scripted_transport(const scripted_transport&) = delete;
  scripted_transport& operator=(const scripted_transport&) = delete;

  transfer_id open(transport_request request,
                   std::shared_ptr<transfer_listener> listener) override {
    auto actions = make_scripted_answer(
        script_, request.body, [&](std::size_t place, std::uint32_t times) {
          return happens(request.body, place, times);
        });
    const auto x = std::make_shared<playback>(
        clock_, std::move(actions), std::move(listener), request.credit,
        script_.bytes_per_read);
    const auto id = add(x);
    x->start();
    return id;
  }

  void grant(transfer_id id, std::size_t bytes) override {
    if (const auto x = find(id)) x->grant(bytes);
  }

  void cancel(transfer_id id) override {
    if (const auto x = find(id)) x->cancel();
  }

 private:
  transfer_id add(const std::shared_ptr<playback>& x) {
    std::lock_guard lock{mutex_};
    if (playing_.size() >= forget_at_) {
      std::erase_if(playing_, [](const auto& p) { return p.second->over(); });
      forget_at_ = 2 * playing_.size() + 64;
    }
    playing_.emplace(++last_id_, x);
    return last_id_;
  }

  std::shared_ptr<playback> find(transfer_id id) {
    std::lock_guard lock{mutex_};
    const auto i = playing_.find(id);
    return i != playing_.end() ? i->second : nullptr;
  }

  // Equal requests are attempts of one step of one conversation.
  bool happens(std::string_view body, std::size_t place, std::uint32_t times) {
    constexpr std::size_t max_counters = 4096;
    if (times == 0) return true;
    std::lock_guard lock{mutex_};
    if (faults_.size() >= max_counters) faults_.clear();
    return faults_[{std::hash<std::string_view>{}(body), place}]++ < times;
  }

  const script script_;
  timer& clock_;
  std::mutex mutex_;
  std::map<transfer_id, std::shared_ptr<playback>> playing_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> faults_;
  transfer_id last_id_ = 0;
  std::size_t forget_at_ = 64;  ///< when to drop playbacks that are over
};

}  // namespace

std::unique_ptr<transport> make_scripted_transport(script what, timer& clock) {
  return std::make_unique<scripted_transport>(std::move(what), clock);
}

}  // namespace riffle::model
