// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "actors/run/subscriber.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

/// What handles and readers share of a runtime, which they may outlive.
/// Thread-safe.
class runtime_link {
 public:
  explicit runtime_link(node& owner);

  /// Cuts the link: from then on the runtime is not reached and no handler is
  /// entered. Waits up to `limit` for those that were.
  void cut(duration limit);

  /// Does nothing once the link is cut.
  void cancel(const run_id& run, std::string reason);
  void cancel(const run_id& run, const call_id& call);
  void tell(const run_id& run, std::string text,
            const service::reply<void>& to);
  /// False: the link is cut.
  bool attach(const run_id& run, subscriber_ptr who);
  /// Runs a short blocking job; drops it once the runtime has ended.
  void submit(executor::job work) { blocking_->submit(std::move(work)); }
  storage::event_log& journal() noexcept { return *journal_; }

  /// Before and after a handler is called. False: the link is cut, it must
  /// not be called.
  bool enter_handler();
  void leave_handler();

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool cut_ = false;
  const std::shared_ptr<service::front_door> door_;
  std::size_t handlers_ = 0;  ///< entered
  const std::shared_ptr<storage::event_log> journal_;
  const std::shared_ptr<executor> blocking_;
};

/// Whether this thread is in a handler: to wait there for a run could stop the
/// very run that is waited for.
bool inside_handler() noexcept;

}  // namespace riffle
