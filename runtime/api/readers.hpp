// SPDX-License-Identifier: MIT
#pragma once

// The two kinds of readers that the library offers: one that is called, one
// that is asked.

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

#include "actors/subscriber.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

/// Whether the block's last line is the run's last event.
bool is_last(const storage::event_block& block);

/// Calls a handler with each block, and notes how the run ended.
class handler_reader final
    : public subscriber,
      public std::enable_shared_from_this<handler_reader> {
 public:
  handler_reader(node& owner, run_id run, event_handler handler);

  std::uint64_t position() const override;
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;

  /// How the run ended; `timeout` if it has not within `limit`.
  expected<run_outcome> wait(duration limit);

 private:
  void take(const storage::event_block& block);
  void pull();
  void note_end(std::string_view lines);
  void finish(expected<run_outcome> how);

  node& owner_;
  const run_id run_;
  const event_handler handler_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t position_ = 0;
  std::optional<expected<run_outcome>> outcome_;
};

/// A bounded queue between the publisher and a thread that asks for batches.
struct event_stream::state final
    : public subscriber,
      public std::enable_shared_from_this<event_stream::state> {
  state(node& runtime_node, run_id id, std::uint64_t after);

  std::uint64_t position() const override;
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;

  std::optional<event_batch> next(duration limit);

  node& owner;
  const run_id run;
  mutable std::mutex mutex;
  std::condition_variable news;
  std::deque<storage::event_block> queue;
  std::size_t bytes = 0;       ///< in the queue
  std::uint64_t end_of_queue;  ///< seq of the last event in or before it
  bool must_pull = true;       ///< the journal has more, or may have
  bool no_more = false;        ///< nothing will be offered
  std::atomic<bool> finished = false;
  std::optional<error> failure;

 private:
  std::optional<event_batch> pop();
  void pull(std::unique_lock<std::mutex>& lock);
};

}  // namespace riffle
