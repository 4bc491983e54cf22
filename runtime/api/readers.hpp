// SPDX-License-Identifier: MIT
#pragma once

// The two kinds of readers that the library offers: one that is called, one
// that is asked. Both may outlive the runtime.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "actors/run/subscriber.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_link.hpp"

namespace riffle {

/// Calls a handler with each block, and notes how the run ended. A handler
/// that throws is logged and not called again.
class handler_reader final
    : public subscriber,
      public std::enable_shared_from_this<handler_reader> {
 public:
  handler_reader(std::shared_ptr<runtime_link> link, run_id run,
                 session_id session, event_handler handler);

  std::uint64_t position() const override;
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;

  /// Cancels the run when `token` is asked to stop, until the run has ended.
  void cancel_on(const std::stop_token& token);

  /// The run was not opened: its handler is not called.
  void drop();
  bool gone() const override { return dropped_; }

  /// How the run ended; nothing if it has not within `limit`.
  std::optional<expected<run_outcome>> wait(duration limit);
  /// See `run::on_end`.
  void on_end(run::end_handler done);

 private:
  using stop_callback = std::stop_callback<std::function<void()>>;

  void take(const storage::event_block& block);
  void call(const storage::event_block& block);
  void pull();
  void note_end(std::string_view lines);
  void finish(expected<run_outcome> how);

  const std::shared_ptr<runtime_link> link_;
  const std::shared_ptr<const run_id> run_;
  const session_id session_;
  event_handler handler_;           ///< of the one thread that offers or pulls
  std::mutex pulling_;              ///< held by the one job that reads pages
  std::atomic<bool> gone_ = false;  ///< nothing more will be offered
  std::atomic<bool> dropped_ = false;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t position_ = 0;
  std::optional<expected<run_outcome>> outcome_;
  run::end_handler when_over_;
  std::unique_ptr<stop_callback> stopper_;
};

/// A bounded queue between the publisher and a thread that asks for batches.
struct event_stream::state final
    : public subscriber,
      public std::enable_shared_from_this<event_stream::state> {
  /// `on_news`, if set, is called when `next` may have something, on any
  /// thread; it must not call this.
  state(std::shared_ptr<runtime_link> to, run_id id, std::uint64_t after,
        std::function<void()> on_news = {});

  std::uint64_t position() const override;
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;

  std::optional<event_batch> next(duration limit);
  /// Nobody asks any more: holds nothing, takes nothing.
  void drop();
  bool gone() const override;

  const std::shared_ptr<runtime_link> link;
  const std::shared_ptr<const run_id> run;
  mutable std::mutex mutex;
  std::condition_variable news;
  std::deque<storage::event_block> queue;
  std::size_t bytes = 0;       ///< in the queue
  std::uint64_t end_of_queue;  ///< seq of the last event in or before it
  bool must_pull = true;       ///< the journal has more, or may have
  bool pulling = false;        ///< a page is being read
  bool no_more = false;        ///< nothing will be offered
  bool dropped = false;
  std::atomic<bool> finished = false;
  std::optional<error> failure;

 private:
  const std::function<void()> on_news_;
  void tell_news();
  std::optional<event_batch> pop();
  void pull(std::unique_lock<std::mutex>& lock);
  void attach(std::unique_lock<std::mutex>& lock);
};

}  // namespace riffle
