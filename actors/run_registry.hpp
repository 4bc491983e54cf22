// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <set>

#include "actors/core/restart_policy.hpp"
#include "actors/interfaces.hpp"
#include "actors/spawn.hpp"

namespace riffle {

/// The supervisor of runs (rule 12): when one actor of a run fails, all fail;
/// the run then starts again from the journal, by the code that recovers it
/// after a crash of the process.
struct run_registry_state {
  static inline const char* name = "run_registry";
  explicit run_registry_state(run_registry_actor::pointer me) : self{me} {}

  struct entry {
    run_spec_ptr spec;
    run_peers peers;
    std::set<caf::actor_addr> alive;  ///< its actors
    std::vector<subscriber_ptr> readers;
    core::restart_policy restarts;
    bool ending = false;                 ///< its last event is stored
    std::optional<error> broken;         ///< the journal refused
    std::optional<end_run> end;          ///< asked for; survives a restart
    bool last_try = false;               ///< over the restart intensity
    std::string failure;                 ///< of the actor that failed first
    std::optional<time_point> deadline;  ///< of its time limit
  };

  /// A run whose journal refused a write: its actors and its work have ended,
  /// its log stands still. It goes on, as after a crash, once the journal
  /// takes it again.
  struct parked_run {
    run_spec_ptr spec;
    error why;
    std::optional<end_run> end;  ///< asked for, also meanwhile
    bool adopting = false;       ///< the store has been asked
    std::optional<time_point> deadline;
  };

  caf::result<run_opened> on_start(start_run& x);
  caf::result<run_opened> on_resume(resume_run& x);
  void on_attach(attach_subscriber& x);
  void on_cancel(cancel_run& x);
  void on_cancel(cancel_call& x);
  void on_broken(run_broken& x);
  void on_down(const caf::down_msg& x);
  void on_exit(caf::exit_msg& x);
  caf::result<all_ended> on_shut_down();

  using opened_promise = caf::typed_response_promise<run_opened>;
  void open(const run_spec_ptr& spec, const subscriber_ptr& who,
            opened_promise promise, bool fresh,
            std::optional<end_run> end = {});
  void begin(entry& run, std::shared_ptr<storage::run_snapshot> snapshot,
             bool fresh);
  void keep_deadline(entry& run);
  void all_down(const run_id& id);
  void restart(const run_id& id);
  void adopt_again(const run_id& id);
  void all_ended_well(const run_id& id);
  void end_work_of(const run_id& id, std::function<void()> then);

  // Pools that died (pool_supervision.cpp).
  void watch_pools();
  bool on_pool_down(const caf::down_msg& x);
  void replace_pool(const std::string& tool, const std::string& why);

  // Runs that stand still (run_parking.cpp).
  void stand_still(const run_id& id, const error& why);
  void set_aside(const run_id& id, const error& why);
  void schedule_probe();
  void on_probe();
  void on_probed(const run_id& id, opened_run& answer);
  void on_refused(const run_id& id, const error& why);
  [[nodiscard]] std::optional<error> why_parked(const run_id& id) const;
  /// False: it is parked and the store has been asked for it already.
  bool claim_parked(const run_id& id);
  void return_parked(const run_id& id);
  void give_up(const run_id& id, const error& why);
  void answer_shut_down();
  void tell_desk();
  void end_for_closing(entry& run);

  run_registry_actor::pointer self;
  registry_setup setup;
  std::map<run_id, entry> runs;
  std::map<run_id, parked_run> parked;
  duration probe_pause{};  ///< before the next probe; 0: none is due
  std::map<caf::actor_addr, run_id> owners;
  std::map<caf::actor_addr, std::string> tools_of;  ///< pools that live
  std::map<std::string, core::restart_policy> pool_restarts;
  std::vector<caf::typed_response_promise<all_ended>> waiting;
  bool closing = false;
  std::size_t opening = 0;
  bool told_desk = false;  ///< that there are runs
};

run_registry_actor::behavior_type run_registry(
    run_registry_actor::stateful_pointer<run_registry_state> self,
    registry_setup setup);

}  // namespace riffle
