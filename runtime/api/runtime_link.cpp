// SPDX-License-Identifier: MIT
#include "runtime/api/runtime_link.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Handlers that this thread is in.
thread_local int handler_depth = 0;

}  // namespace

runtime_link::runtime_link(node& owner)
    : door_{owner.door()},
      journal_{owner.shared_journal()},
      blocking_{owner.shared_side_executor()} {}

void runtime_link::cut(duration limit) {
  std::unique_lock lock{mutex_};
  cut_ = true;
  if (!left_.wait_for(lock, limit, [this] { return handlers_ == 0; }))
    log_error("runtime", "an event handler does not return");
}

void runtime_link::cancel(const run_id& run, std::string reason) {
  std::lock_guard lock{mutex_};
  if (!cut_)
    door_->cancel(run, {errc::cancelled, "run", std::move(reason)}, true);
}

void runtime_link::cancel(const run_id& run, const call_id& call) {
  std::lock_guard lock{mutex_};
  if (!cut_) door_->cancel(run, call);
}

void runtime_link::tell(const run_id& run, std::string text,
                        const service::reply<void>& to) {
  std::lock_guard lock{mutex_};
  if (!cut_) door_->tell(run, std::move(text), to);
}

bool runtime_link::attach(const run_id& run, subscriber_ptr who) {
  {
    const std::lock_guard lock{mutex_};
    if (cut_) return false;
    ++handlers_;  // the actors stay while this is so
  }
  // Of a runtime that has failed, the reader is closed at once: it may call
  // this link.
  door_->attach(run, std::move(who));
  const std::lock_guard lock{mutex_};
  if (--handlers_ == 0) left_.notify_all();
  return true;
}

bool runtime_link::enter_handler() {
  std::lock_guard lock{mutex_};
  if (cut_) return false;
  ++handlers_;
  ++handler_depth;
  return true;
}

void runtime_link::leave_handler() {
  std::lock_guard lock{mutex_};
  --handler_depth;
  if (--handlers_ == 0) left_.notify_all();
}

bool inside_handler() noexcept { return handler_depth > 0; }

}  // namespace riffle
