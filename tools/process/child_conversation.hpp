// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/process/worker_child.hpp"

namespace riffle::tools {

/// What is said to a child and heard from it, during one call or while it
/// ends. Lives on the stack of the thread that calls.
///
/// The ladder of a stop: the child is asked; after half a second, or as soon
/// as the call has ended, its guard ends it and all that it started (SIGTERM,
/// then SIGKILL). A child that was stopped is never used again. A child that
/// leaves its channel, says what makes no sense, is stopped by a signal
/// (looked at twice, half a second apart) or ends, is lost.
class child_conversation {
 public:
  explicit child_conversation(worker_child& child);

  child_call run(const nlohmann::json& arguments, tool_context& context);
  /// Ends the child and waits; false: not in time.
  bool end(duration limit);
  /// Sends what fits.
  void send_some();

 private:
  using clock = std::chrono::steady_clock;

  bool wait_and_read(int timeout_ms);
  void read_packets();
  void read_output(unique_fd& from);
  void on(work::offer& x);
  void on(work::progress& x);
  void on(work::done& x);
  void on(work::lost& x);
  template <class Other>
  void on(Other&) {
    lose("it sent garbage");  // what only a runtime says
  }
  [[nodiscard]] bool is_mine(const call_id& call, std::uint32_t attempt) const;
  bool take_state(const state_values& changes);
  void on_closed();
  void on_stop();
  void on_guard();
  void on_quiet();
  void lose(std::string why);
  void ask_end();
  [[nodiscard]] bool is_frozen() const;
  [[nodiscard]] child_call outcome(bool stopped);

  worker_child& child_;
  const tool_context* context_ = nullptr;
  unique_fd wake_;
  bool stop_asked_ = false;
  bool done_ = false;  ///< the call has ended in the child
  bool closed_ = false;
  bool threw_ = false;
  bool failed_start_ = false;
  bool end_asked_ = false;
  std::optional<clock::time_point> end_at_;  ///< then the guard is asked
  std::optional<clock::time_point> stuck_at_;
  int quiet_frozen_ = 0;
  tool_output output_;
  std::string lost_;
  std::string tail_;  ///< the end of what it printed
};

}  // namespace riffle::tools
