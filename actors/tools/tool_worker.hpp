// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "actors/core/progress_window.hpp"
#include "actors/interfaces.hpp"
#include "runtime/base/executor.hpp"

namespace riffle {

/// Where and how workers run calls; made by the composition root.
struct worker_setup {
  std::shared_ptr<executor> blocking;
  /// Called on the blocking executor's threads: runs the function, and maybe
  /// the actors that its messages wake. Empty: the scheduler runs them.
  std::function<void(const std::function<void()>&)> run_inline;
  /// The same for a call's beginning, behind which its tool waits.
  std::function<void(const std::function<void()>&)> begin_inline;
  /// The same for reports of a call, which its tool makes in the middle of its
  /// work: only of actors that call nothing of the tool's or an application's.
  std::function<void(const std::function<void()>&)> report_inline;
  std::filesystem::path workspace;
  /// Folder of the lock files of guarded tools; empty: none.
  std::filesystem::path guard_dir;
  /// Folder of the outputs that are too long for memory; empty: none.
  std::filesystem::path output_dir;
  /// What the processes of a call live by; empty: as long as this process.
  std::function<tools::lease_ptr(const call_id&)> lease_of;
  /// From SIGTERM to SIGKILL.
  duration kill_grace = std::chrono::milliseconds{500};
  /// Characters of an output that the model gets.
  std::uint64_t output_limit = 65536;
  std::size_t progress_window = 16;
  /// The one that the registry of runs has: what may begin.
  std::shared_ptr<work_board> board = std::make_shared<work_board>();
  fault_hook faults;  ///< of tests
};

/// The lock file of an attempt of a guarded call.
std::filesystem::path guard_file(const std::filesystem::path& guard_dir,
                                 const call_id& call, std::uint32_t attempt);

/// Carries reports from the tool's thread to who waits for them, a bounded
/// number at a time, in the name of the worker, which gets the acks. Shared by
/// both.
class progress_relay {
 public:
  struct way {
    thread_worker_actor worker;
    progress_listener muxer;
    call_id id;
    std::uint32_t attempt = 0;
    std::string tool;
    /// See `worker_setup::report_inline`.
    std::function<void(const std::function<void()>&)> run_inline;
  };
  /// `attempts`: so many may share the reports of a call.
  progress_relay(way to, std::size_t window, std::uint32_t attempts);

  /// The tool's thread, before its first report: it is the only one that runs
  /// what its reports wake.
  void begin();
  void offer(tool_progress_report x);  ///< any thread of the tool
  std::uint64_t close();  ///< blocking executor: the end; number of the last
  void on_ack();          ///< worker
  void on_time();         ///< worker: what is held may be due

 private:
  void send(std::optional<tool_progress_report> x);
  [[nodiscard]] time_point now() const;

  const way to_;
  std::thread::id thread_;
  std::mutex mutex_;
  core::progress_window window_;
  bool waking_ = false;  ///< the worker's timer runs
};

struct tool_worker_state {
  static inline const char* name = "tool_worker";
  explicit tool_worker_state(thread_worker_actor::pointer me) : self{me} {}
  ~tool_worker_state() { stop.request_stop(); }

  void on(work::assignment& x, work_listeners& who);
  void on_no_thread(const call_id& id, std::uint32_t attempt,
                    const std::string& why);
  void on(blocking_done& x);
  void on(const work::stop& x) {
    if (runs(x.id)) stop.request_stop();
  }
  void on(const work::ack& x) {
    if (relay && runs(x.id)) relay->on_ack();
  }
  void on(tick&) {
    if (relay) relay->on_time();
  }
  void on(caf::down_msg&);
  [[nodiscard]] bool runs(const call_id& x) const {
    return current && current->id == x;
  }
  void keep_whole_output(tools::tool_context& context) const;

  struct task {
    call_id id;
    std::uint32_t attempt = 0;
    work_listeners who;
  };

  thread_worker_actor::pointer self;
  tools::tool_ptr tool;
  worker_setup setup;
  work_supervisor pool;
  std::optional<task> current;
  std::stop_source stop;
  std::shared_ptr<progress_relay> relay;
  bool orphan = false;  ///< its pool died
};

thread_worker_actor::behavior_type tool_worker(
    thread_worker_actor::stateful_pointer<tool_worker_state> self,
    tools::tool_ptr tool, worker_setup setup, work_supervisor pool);

}  // namespace riffle
