// SPDX-License-Identifier: MIT
#pragma once

// A volley under way: its tasks' runs, as its scheduler wants them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/process/volley_scheduler.hpp"
#include "messages/event.hpp"
#include "runtime/service/capacity_board.hpp"
#include "runtime/service/requests.hpp"
#include "runtime/service/runs.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::service {

/// Hears of a volley, on threads of the runtime: must not block and must not
/// throw.
class volley_listener {
 public:
  virtual ~volley_listener() = default;
  /// A run of the task has begun, or goes on.
  virtual void begun(std::size_t task, const run_opened& run) = 0;
  /// Nothing more is done for the task.
  virtual void over(const task_result& x) = 0;
  /// Every task is over, or nothing more is done for this reason. Last, once.
  virtual void all_over(const std::optional<error>& failure) = 0;
};

/// A task with what is on record of it.
struct volley_entry {
  run_request request;           ///< with its session
  std::string model{};           ///< that it asks
  std::optional<run_id> open{};  ///< a run of it has not ended: it goes on
  task_result result{};          ///< as far as it is known
  bool ended = false;            ///< nothing is left to do
};

class volley_run final : public volley_port,
                         public capacity_listener,
                         public std::enable_shared_from_this<volley_run> {
 public:
  /// Why another process wants the volley to end; nothing: none does. Blocks.
  using end_asked = std::function<std::optional<std::string>()>;
  /// Whether there is room for one more run, beside what `runtime.max_runs`
  /// says. Blocks; null: there is.
  using has_room = std::function<bool()>;

  volley_run(std::string id, std::vector<volley_entry> tasks,
             resume_options again, class runs runs,
             std::shared_ptr<storage::event_log> log,
             std::shared_ptr<executor> where,
             std::shared_ptr<volley_listener> listener,
             std::shared_ptr<volley_lock> lock, end_asked asked, has_room room,
             shared_texts shared = {});

  /// Tasks as the scheduler takes them.
  [[nodiscard]] std::vector<core::volley_task> to_schedule() const;
  /// Once, before anything is started.
  void attach(volley_scheduler_actor who);
  /// Ends it: what runs is cancelled, nothing begins any more.
  void cancel(std::string reason);
  /// The actors end; nothing is said to them any more.
  void cut();
  /// Its runs that are under way, none once it is over. Nothing: more of it is
  /// about to begin, whatever becomes of these.
  std::optional<std::vector<run_id>> under_way();

  void start(std::size_t task, std::uint32_t attempt) override;
  void cancel(std::size_t task, const std::string& reason) override;
  void over(std::size_t task, bool ran, bool left) override;
  void all_over(const std::optional<std::string>& failure) override;
  void on_capacity(const std::string& model, std::uint32_t most) override;

 private:
  enum class phase : std::uint8_t {
    waits,    ///< for a worker
    works,    ///< a run of it was asked for
    between,  ///< runs: another one may come
    over,
  };
  struct slot {
    volley_entry what;
    phase now = phase::waits;
    std::optional<run_id> run{};             ///< under way
    std::optional<run_id> suspended{};       ///< goes on by itself
    std::optional<std::string> cancelled{};  ///< why; before it began, too
    bool announced = false;        ///< its run's begin, to the listener
    std::function<void()> held{};  ///< what came of it before that
  };

  [[nodiscard]] run_request whole(run_request x) const;
  bool may_begin(std::size_t task);
  void begin(std::size_t task);
  void no_room(std::size_t task);
  void suspended(std::size_t task, const run_id& run, const error& why);
  reader_maker reader_of(std::size_t task);
  void opened(std::size_t task, expected<run_opened> x);
  void ended(std::size_t task, const std::optional<events::run_finished>& end,
             std::optional<error> failure, std::string answer = {});
  void when_announced(std::size_t task, std::function<void()> f);
  void tell(std::size_t task, const core::task_end& how);
  void tell_after_look(std::size_t task, const core::task_end& how);
  volley_scheduler_actor scheduler();

  const std::string id_;
  const resume_options again_;
  const class runs runs_;
  const std::shared_ptr<storage::event_log> log_;
  const std::shared_ptr<executor> where_;
  const end_asked end_asked_;
  const has_room has_room_;
  const shared_texts shared_;
  /// While it lives no other process works on the volley.
  std::shared_ptr<volley_lock> lock_;
  std::mutex mutex_;
  std::vector<slot> slots_;
  volley_scheduler_actor scheduler_;
  std::map<std::string, std::uint32_t> capacity_;  ///< as it was reported
  std::shared_ptr<volley_listener> listener_;
  bool told_of_room_ = false;  ///< that the journal refuses
};

}  // namespace riffle::service
