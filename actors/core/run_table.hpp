// SPDX-License-Identifier: MIT
#pragma once

// The lifetime of runs in this process: who may open one, what follows when it
// fails, when it is nobody's again.
//
//   start ─► opening ──────────► running ──► (ended)
//   resume ─┘   │  ▲                │ all actors down
//               │  │ resume         ▼
//               │  │             clearing ──► adopting ──► running
//               │  │     refused    │            │
//               │  └── suspended ◄──┴────────────┘ the journal refuses
//               │         └── probe ─► running
//               ▼ deadline, or who asked went away
//              late ──► (disowned, or begun to be ended)
//
// One question to the store is open for a run at most, and each is answered
// some time: so nothing is owned here that nobody works on. Pure: `on_x`
// returns what is to be done, in order.

#include <map>
#include <optional>
#include <string>

#include "actors/core/restart_policy.hpp"
#include "actors/core/run_effects.hpp"

namespace riffle::core {

struct run_table_limits {
  std::uint32_t max_runs = 0;  ///< 0: no limit
  std::uint32_t intensity = 3;
  duration period = std::chrono::seconds{60};
  /// A journal that refused a write is asked again after `probe_base`, then
  /// after twice as long each time, at most `probe_cap`.
  duration probe_base = std::chrono::milliseconds{500};
  duration probe_cap = std::chrono::seconds{15};
};

/// What the table has to know of a run that somebody asks for.
struct asked_run {
  run_id run;
  bool fresh = true;               ///< false: it is resumed
  bool caused = false;             ///< it executes what a person approved
  duration time_limit{};           ///< 0: none
  std::optional<end_request> end;  ///< it shall end at once, by this
  bool within_plan = false;        ///< `max_runs` counts its plan
};

class run_table {
 public:
  run_table() : run_table{run_table_limits{}} {}
  explicit run_table(run_table_limits limits) : limits_{limits} {}

  /// Why it cannot be started or resumed now, or nothing.
  [[nodiscard]] std::optional<error> find_refusal(const asked_run& x) const;

  /// Somebody starts or resumes it and waits; nothing spoke against it.
  run_effects on_asked(asked_run x);
  /// The store opened or adopted it: it is this process's.
  run_effects on_opened(const run_id& id, run_ticket ticket, time_point now);
  run_effects on_refused(const run_id& id, run_ticket ticket, error why);
  /// The store, or the work, did not answer in time.
  run_effects on_deadline(const run_id& id, run_ticket ticket);
  /// Who asked for it does not wait any more, whatever the answer was.
  run_effects on_withdrawn(const run_id& id);

  run_effects on_cancel(const run_id& id, end_request how);
  /// The journal refused; it cannot go on.
  run_effects on_broken(const run_id& id, error why);
  /// Its last event is stored.
  void on_ending(const run_id& id);
  /// `why`: of the actor that failed first.
  run_effects on_all_down(const run_id& id, const std::string& why,
                          time_point now);
  run_effects on_work_ended(const run_id& id, run_ticket ticket);

  run_effects on_probe();
  run_effects on_shut_down();

  /// Its actors live, and take what is sent to them.
  [[nodiscard]] bool runs(const run_id& id) const;
  /// Why it is suspended, if it does.
  [[nodiscard]] std::optional<error> why_still(const run_id& id) const;
  /// A run is this process's.
  [[nodiscard]] bool owns_any() const;
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  /// Runs that the runtime's end waits for.
  [[nodiscard]] std::size_t busy() const;

 private:
  enum class phase : std::uint8_t {
    opening,    ///< the store is asked, somebody waits for the run
    late,       ///< the store is asked, nobody waits
    running,    ///< its actors live
    clearing,   ///< its actors are gone, its work ends
    lingering,  ///< given up; it is let go of once its work has ended
    adopting,   ///< the store is asked: it starts again
    suspended,  ///< the journal refused; it goes on when it takes it again
  };

  struct entry {
    asked_run what;
    phase at = phase::opening;
    run_ticket ticket = 0;        ///< of the question that is open, or was last
    run_ticket work = 0;          ///< the same, of its work
    bool works = false;           ///< that may go on, of earlier actors
    bool asked = false;           ///< the store has yet to answer
    bool awaited = false;         ///< somebody waits for the run
    bool ending = false;          ///< its last event is stored
    bool last_try = false;        ///< over the restart intensity
    std::optional<error> broken;  ///< why it cannot go on
    std::optional<end_request> end;      ///< asked for; survives a restart
    std::optional<time_point> deadline;  ///< of its time limit
    restart_policy restarts{0, duration{}};
  };

  entry* find(const run_id& id);
  [[nodiscard]] const entry* find(const run_id& id) const;
  /// The entry that waits for this answer of the store, which is here now.
  entry* answered(const run_id& id, run_ticket ticket);
  void ask(entry& x, bool fresh, run_effects& out);
  void begin(entry& x, bool fresh, run_effects& out, time_point now);
  void take_late(entry& x, run_effects& out, time_point now);
  void on_cleared(entry& x, run_effects& out);
  void refuse_asker(entry& x, error why, run_effects& out);
  void forget(const run_id& id, bool disown, run_effects& out);
  void refuse_restart(entry& x, error why, run_effects& out);

  // Runs that are suspended, and the runtime's end (run_table_probe.cpp).
  void suspend(entry& x, error why, run_effects& out);
  void refuse_suspended(entry& x, error why, run_effects& out);
  void schedule_probe(run_effects& out);
  void on_probe_answered(bool taken, run_effects& out);
  void end_for_closing(entry& x, run_effects& out);
  void check_closed(run_effects& out);

  run_table_limits limits_;
  std::map<run_id, entry> runs_;
  run_ticket last_ticket_ = 0;
  duration probe_pause_{};        ///< before the next probe; 0: none is due
  std::optional<run_id> probed_;  ///< the store is asked for
  bool closing_ = false;
  bool told_closed_ = true;  ///< `all_runs_ended` is not owed
};

}  // namespace riffle::core
