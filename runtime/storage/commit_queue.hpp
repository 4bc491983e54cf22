// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "runtime/storage/commit_gatherer.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::storage {

struct queued_unit {
  commit_unit unit;
  completion done;
};

/// What the queue has done and holds; read at any time from any thread.
struct queue_counts {
  std::size_t waiting_units = 0;
  std::size_t waiting_bytes = 0;
  std::size_t most_waiting_bytes = 0;
  std::size_t commits = 0;
  std::size_t units = 0;
};

/// Group commit: one thread takes all that waits, up to a limit, and stores
/// it at once; the next group forms meanwhile, under load for a moment longer
/// (`commit_gatherer`). Jobs run in their place in the order, alone. The queue
/// itself does not refuse anything: its bound is the credit of those who append
/// (each run waits for its acknowledgements).
class commit_queue {
 public:
  struct limits {
    std::size_t bytes = std::size_t{8} << 20;
    std::size_t units = 1024;
    /// How long units gather, instead of what `commit_gatherer` says.
    std::optional<duration> pause{};
  };
  /// What became of a group: one answer for each unit, or none if all are
  /// stored. The store must not throw.
  struct stored {
    std::vector<std::optional<error>> failures;

    void fail(const std::vector<queued_unit>& group, std::size_t i,
              const error& why) {
      failures.resize(group.size());
      failures[i] = why;
    }
  };
  using around = std::function<void(const std::function<void()>&)>;
  using store_group = std::function<stored(const std::vector<queued_unit>&)>;

  /// `afterwards` is called on the queue's thread after a group was completed,
  /// before the next; it must not throw.
  commit_queue(limits most, store_group store,
               std::function<void()> afterwards = {});
  /// Stores what waits, completes it, then ends the thread.
  ~commit_queue();
  commit_queue(const commit_queue&) = delete;
  commit_queue& operator=(const commit_queue&) = delete;

  /// See `journal::append`. Completions are called on the queue's thread, in
  /// order.
  void append(commit_unit unit, completion done);

  /// See `event_log::complete_within`.
  void complete_within(around f);

  /// Runs a job on the queue's thread after all that was appended before and
  /// waits for it; what it throws comes out of here. Called by a completion, it
  /// stores what was appended before and runs the job at once; completions of
  /// that come later, in their order. Fails if it is called by a job.
  std::optional<error> run(std::function<void()> call);

  [[nodiscard]] queue_counts counts() const;

 private:
  struct job {
    std::function<void()> call;
  };
  using entry = std::variant<queued_unit, job>;
  using guard = std::unique_lock<std::mutex>;
  /// A unit whose completion is to be called.
  struct ended_unit {
    completion done;
    std::optional<error> failure;
  };

  void push(entry x, std::size_t bytes);
  void work();
  bool await(guard& lock);
  void step(guard& lock);
  std::vector<queued_unit> take_group();
  void store(std::vector<queued_unit> group);
  void complete(guard& lock);

  const limits limits_;
  const store_group store_;
  const std::function<void()> afterwards_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<entry, std::size_t>> entries_;
  queue_counts counts_;
  std::shared_ptr<const around> around_;
  std::size_t jobs_ = 0;  ///< that wait
  bool idle_ = false;
  bool gathering_ = false;
  bool stopping_ = false;
  // Of the thread:
  std::deque<ended_unit> ended_;
  commit_gatherer gatherer_;
  bool in_job_ = false;
  std::thread thread_;
};

}  // namespace riffle::storage
