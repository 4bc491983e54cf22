// SPDX-License-Identifier: MIT
#pragma once

// What all streams stand on.

#include <cstdint>
#include <functional>
#include <memory>

#include "actors/run/subscriber.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/service/runs.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::http {

/// Runs a job on the I/O thread; from any thread.
using poster = std::function<void(std::function<void()>)>;

/// What streams stand on. Shared; thread-safe as far as its parts are.
struct stream_parts {
  poster post;
  std::shared_ptr<storage::journal> journal;
  std::shared_ptr<executor> reads;  ///< for pages of the journal
  /// For those of the order of all runs, which cost more: who is far behind
  /// there waits for his like alone.
  std::shared_ptr<executor> feeds;
  std::shared_ptr<timer> clock;
  std::function<void(const run_id&, subscriber_ptr)> attach;
  std::uint64_t retry_ms = 1000;
};

/// Called on the I/O thread when there may be more.
class channel_reader {
 public:
  virtual ~channel_reader() = default;
  virtual void on_news() = 0;
};

}  // namespace riffle::http
