// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "messages/call.hpp"
#include "messages/ids.hpp"
#include "tools/session_state.hpp"

namespace riffle {

/// Which attempt of each call.
using call_attempts = std::map<call_id, std::uint32_t>;

/// What an attempt came to.
struct kept_result {
  std::uint32_t attempt = 0;
  call_result result;
  tools::state_values state;  ///< what it set in its session
};

/// The attempts of a run's calls that are on their way to a worker, and those
/// that act on threads of tools. Those threads themselves ask before they act
/// and tell when they have ended: so it is true also when every actor died that
/// could tell. Thread-safe.
class run_work {
 public:
  /// Called on the thread whose attempt has ended, of those that somebody
  /// waits for (`close`, `still_acts`).
  using listener = std::function<void(const call_id&, std::uint32_t attempt)>;
  explicit run_work(listener on_end) : on_end_{std::move(on_end)} {}

  /// By a dispatcher, which gives a call to a worker. Nothing may begin that
  /// was handed over before the last `close`: that was another epoch.
  void hand_over(std::uint64_t epoch, const call_id& call,
                 std::uint32_t attempt);
  /// By the same dispatcher. False: it has begun.
  bool take_back(std::uint64_t epoch, const call_id& call,
                 std::uint32_t attempt);
  /// By a worker's thread. False: it must not act.
  bool begin(std::uint64_t epoch, const call_id& call, std::uint32_t attempt);
  /// By the same thread, after it began: it acts no more.
  void end(const call_id& call, std::uint32_t attempt);

  /// Nothing that was handed over so far begins any more.
  void close();
  [[nodiscard]] std::uint64_t epoch() const;

  [[nodiscard]] call_attempts acting() const;
  /// If so, its end is told to the listener.
  bool still_acts(const call_id& call, std::uint32_t attempt);

  // How calls ended that must not run again, until that is on record: so it
  // outlives actors whose journal refuses to take it.
  /// Of an attempt the first counts.
  void keep(const call_id& call, kept_result x);
  /// Null: none of this attempt.
  [[nodiscard]] std::shared_ptr<const kept_result> find_kept(
      const call_id& call, std::uint32_t attempt) const;
  void let_go(const call_id& call);
  void let_go_all();

 private:
  struct work {
    std::uint32_t attempt = 0;
    bool awaited = false;
  };

  const listener on_end_;
  mutable std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::set<std::pair<call_id, std::uint32_t>> waiting_;  ///< of this epoch
  std::multimap<call_id, work> acting_;
  std::map<call_id, std::shared_ptr<const kept_result>> kept_;
};

/// The work of the runs of this process: how the threads of workers find that
/// of an assignment, which names its run. Thread-safe.
class work_board {
 public:
  void add(const run_id& run, std::shared_ptr<run_work> work);
  void remove(const run_id& run);
  /// Null if there is none: the run was forgotten, nothing of it may begin.
  [[nodiscard]] std::shared_ptr<run_work> find(const run_id& run) const;

 private:
  mutable std::mutex mutex_;
  std::map<run_id, std::shared_ptr<run_work>> all_;
};

}  // namespace riffle
