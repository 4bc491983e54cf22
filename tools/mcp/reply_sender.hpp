// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace riffle::mcp {

/// Sends answers to a server's requests on a thread of its own, one after the
/// other: a server that takes its time for them, or never takes them, holds up
/// no call. The thread begins with the first answer. Thread-safe.
class reply_sender {
 public:
  /// Those that wait; a server that asks for more is not answered.
  static constexpr std::size_t most = 100;

  using sender =
      std::function<void(std::string text, const std::stop_token& stop)>;

  explicit reply_sender(sender send) : send_{std::move(send)} {}
  ~reply_sender() { stop(); }
  reply_sender(const reply_sender&) = delete;
  reply_sender& operator=(const reply_sender&) = delete;

  /// False: too many wait.
  bool add(std::string text) {
    const std::lock_guard lock{mutex_};
    if (stop_.stop_requested()) return true;
    if (waiting_.size() >= most) return false;
    waiting_.push_back(std::move(text));
    if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
    changed_.notify_all();
    return true;
  }

  /// Nothing more is sent, after a moment for what waits; waits for what is
  /// under way then, which is told.
  void stop(std::chrono::milliseconds moment = {}) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, moment,
                      [&] { return waiting_.empty() && !sends_; });
    lock.unlock();
    stop_.request_stop();
    lock.lock();
    auto thread = std::move(thread_);
    lock.unlock();
    if (thread.joinable()) thread.join();
  }

 private:
  void run() {
    const auto stop = stop_.get_token();
    for (std::unique_lock lock{mutex_};;) {
      changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
      if (stop.stop_requested()) return;
      auto text = std::move(waiting_.front());
      waiting_.pop_front();
      sends_ = true;
      lock.unlock();
      send_(std::move(text), stop);
      lock.lock();
      sends_ = false;
      changed_.notify_all();
    }
  }

  const sender send_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_;
  bool sends_ = false;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace riffle::mcp
