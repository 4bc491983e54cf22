// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <limits>
#include <set>
#include <stop_token>

#include "actors/core/run_table.hpp"
#include "actors/interfaces.hpp"
#include "actors/process/spawn.hpp"

namespace riffle {

/// The supervisor of runs: when one actor of a run fails, all fail;
/// the run then starts again from the journal, by the code that recovers it
/// after a crash of the process. What follows from what is decided by
/// `core::run_table`; here are the actors, readers and answers.
struct run_registry_state {
  static inline const char* name = "run_registry";
  explicit run_registry_state(run_registry_actor::pointer me) : self{me} {}
  ~run_registry_state();
  run_registry_state(const run_registry_state&) = delete;
  run_registry_state& operator=(const run_registry_state&) = delete;

  using opened_promise = caf::typed_response_promise<run_opened>;

  /// Who asked for a run that has not begun yet.
  struct asker {
    run_spec_ptr spec;
    subscriber_ptr who;
    std::optional<opened_promise> promise;  ///< not answered yet
  };

  /// What begins once its spec is whole.
  struct late_start {
    core::begin_run how;
    std::shared_ptr<storage::run_snapshot> snapshot;
    std::string said;  ///< of one that is taken up: by its open step
    std::uint64_t number = 0;
    std::stop_source stop{};  ///< nobody waits for its spec any more
    /// Blocks of its log that the registry has written itself and that are not
    /// on record yet: nothing begins before they are.
    std::size_t unwritten = 0;
    std::uint64_t written_seq = 0;  ///< the last event that is on record
    bool ready = false;             ///< its spec came, or its end
    std::optional<core::end_request> end{};
  };

  /// A run that has begun.
  struct entry {
    run_spec_ptr spec;
    run_peers peers;
    std::set<caf::actor_addr> alive;  ///< its actors
    std::vector<subscriber_ptr> readers;
    std::string failure;         ///< of the actor that failed first
    core::run_ticket limit = 0;  ///< of the message at its time limit
    /// It has no actors yet, but for its record.
    std::optional<late_start> late{};
  };

  // What comes in.
  caf::result<run_opened> on(start_run& x);
  caf::result<run_opened> on(resume_run& x);
  void on(attach_subscriber& x);
  void on(cancel_run& x);
  void on(cancel_call& x);
  caf::result<run_told> on(tell_run& x);
  void on(const withdraw_run& x);
  void on(const run_ended& x);
  void on(run_broken& x);
  void on(const work_returned& x);
  void on(const probe_journal& x);
  void on(spec_completed& x);
  void on(wait_written& x);
  void on(const wait_due& x);
  entry* late_run(const run_id& run, std::uint64_t number);
  void on(const run_deadline& x);
  void on_down(const caf::down_msg& x);
  void on_exit(caf::exit_msg& x);
  caf::result<all_ended> on(shut_down& x);
  caf::result<run_opened> ask(core::asked_run what, const run_spec_ptr& spec,
                              const subscriber_ptr& who);
  void on_store_answer(const core::ask_store& asked, opened_run& answer);
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  // What follows (run_registry_effects.cpp). The only place that sends.
  void apply(core::run_effects effects);
  void act(core::ask_store& x);
  void act(core::disown_run& x);
  void act(core::begin_run& x);
  void act(core::answer_asker& x);
  void act(core::tell_end& x);
  void act(core::end_soon& x);
  void act(core::stop_actors& x);
  void act(core::end_work& x);
  void act(core::close_readers& x);
  void act(core::forget_run& x);
  void act(core::probe_later& x);
  void act(core::all_runs_ended& x);
  void act(core::note_run& x);
  entry& take_over(const run_id& run);
  void spawn(entry& run, const core::begin_run& x, run_start start);
  // Runs that have no actors yet (late_start.cpp).
  void complete_spec(entry& run, const core::begin_run& x);
  void begin_late(entry& run, std::optional<core::end_request> end);
  void tell_begin(entry& run);
  void write_event(entry& run, const events::body& x);
  void watch_actors(entry& run);
  void keep_deadline(const core::begin_run& x);
  std::shared_ptr<run_work> work_of(const run_id& run);
  void tell_inbox();

  // Pools that died (pool_supervision.cpp).
  void watch_pools();
  bool on_pool_down(const caf::down_msg& x);
  void on(const revive_pool& x);
  void replace_pool(const std::string& tool, const std::string& why);
  void on(const pool_of_node& x);

  run_registry_actor::pointer self;
  registry_setup setup;
  core::run_table table;
  std::deque<core::run_effect> todo;
  bool applying = false;
  /// Tickets of time limits; the table counts its own from below.
  core::run_ticket last_limit =
      std::numeric_limits<core::run_ticket>::max() / 2;
  std::uint64_t last_late = 0;
  std::map<run_id, asker> askers;
  std::map<run_id, entry> runs;
  std::map<run_id, core::run_ticket> clearing;  ///< whose work shall end
  /// What the store answered just now.
  std::shared_ptr<storage::run_snapshot> arrived;
  std::string arrived_said;
  std::map<caf::actor_addr, run_id> owners;
  std::map<caf::actor_addr, std::string> tools_of;  ///< pools that live
  std::map<std::string, core::restart_policy> pool_restarts;
  std::vector<caf::typed_response_promise<all_ended>> waiting;
  bool told_inbox = false;  ///< that there are runs
};

run_registry_actor::behavior_type run_registry(
    run_registry_actor::stateful_pointer<run_registry_state> self,
    registry_setup setup);

}  // namespace riffle
