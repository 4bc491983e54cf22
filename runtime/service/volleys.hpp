// SPDX-License-Identifier: MIT
#pragma once

// Use cases of volleys: many tasks at once, started, resumed, cancelled.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/service/front_door.hpp"
#include "runtime/service/runs.hpp"
#include "runtime/service/volley_record.hpp"
#include "runtime/service/volley_run.hpp"

namespace riffle::service {

/// A volley that was put on record. `begin` starts its tasks, once; without it
/// nothing of it runs.
struct opened_volley {
  std::string id;  ///< `volley_…`
  /// In order; what ended before has its result.
  std::vector<volley_entry> tasks;
  std::shared_ptr<volley_run> run;
  std::function<void()> begin;
};

/// Thread-safe. Blocks on the journal: whoever must not is answered by
/// `answer_on`.
class volleys {
 public:
  /// `locks`: a folder of the data folder where a process shows that it works
  /// on a volley; empty: there is none (a journal in memory).
  /// `where`: for what blocks while a volley runs.
  volleys(runs runs, std::shared_ptr<storage::journal> journal,
          std::shared_ptr<front_door> door, std::shared_ptr<executor> where,
          std::filesystem::path locks)
      : runs_{std::move(runs)},
        journal_{std::move(journal)},
        door_{std::move(door)},
        where_{std::move(where)},
        locks_{std::move(locks)} {}

  /// Its record is stored when this returns: it can be resumed from then on.
  /// `room`: asked before each of its runs. Fails with `invalid_request` (no
  /// task, an empty one, a session that cannot have its name), and as
  /// `set_state`.
  expected<opened_volley> open(volley_request x, id_source& ids,
                               std::shared_ptr<volley_listener> who,
                               volley_run::has_room room = {}) const;

  /// Of any process that does not work on it any more: tasks that have ended
  /// (completed or failed) are not run again, a run that was cut off goes on,
  /// the others begin. Fails with `not_found`, `session_busy` (a process works
  /// on it), `invalid_request` (it was started in another folder).
  expected<opened_volley> reopen(const std::string& id, resume_options again,
                                 std::shared_ptr<volley_listener> who,
                                 volley_run::has_room room = {}) const;

  /// Whether a process, this one too, works on it. Blocks.
  [[nodiscard]] bool is_worked_on(const std::string& id) const {
    return service::is_worked_on(locks_, id);
  }

  /// Whether somebody wants it to end, and nobody has gone on with it since.
  /// Blocks.
  [[nodiscard]] bool is_asked_to_end(const std::string& id) const {
    return asked_volley_end(*journal_, id).has_value();
  }

 private:
  expected<opened_volley> put_together(std::string id, const volley_request& x,
                                       std::vector<volley_entry> entries,
                                       resume_options again,
                                       std::shared_ptr<volley_listener> who,
                                       std::shared_ptr<volley_lock> held,
                                       volley_run::has_room room) const;

  runs runs_;
  std::shared_ptr<storage::journal> journal_;
  std::shared_ptr<front_door> door_;
  std::shared_ptr<executor> where_;
  std::filesystem::path locks_;
};

}  // namespace riffle::service
