// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

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
/// it at once; the next group forms meanwhile. Jobs run in their place in the
/// order, alone. The queue itself does not refuse anything: its bound is the
/// credit of those who append (each run waits for its acknowledgements).
class commit_queue {
 public:
  struct limits {
    std::size_t bytes = std::size_t{8} << 20;
    std::size_t units = 1024;
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

  /// Runs a job on the queue's thread after all that was appended before and
  /// waits for it. The job must not throw. Fails if it is called by a
  /// completion, which would wait for itself.
  std::optional<error> run(std::function<void()> call);

  [[nodiscard]] queue_counts counts() const;

 private:
  struct job {
    std::function<void()> call;
  };
  using entry = std::variant<queued_unit, job>;

  void push(entry x, std::size_t bytes);
  void work();
  std::vector<queued_unit> take_group();
  void store(std::vector<queued_unit> group);

  const limits limits_;
  const store_group store_;
  const std::function<void()> afterwards_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<entry, std::size_t>> entries_;
  queue_counts counts_;
  bool idle_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace riffle::storage
