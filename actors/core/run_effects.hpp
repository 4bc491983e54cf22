// SPDX-License-Identifier: MIT
#pragma once

// What the run table wants done.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/step_machine.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// Which of the questions about a run an answer, or a timer, belongs to.
using run_ticket = std::uint64_t;

/// Ask the store to open (`fresh`) or to adopt the run; its answer, however
/// late, comes as `on_opened` or `on_refused`, its deadline as `on_deadline`.
struct ask_store {
  run_id run;
  run_ticket ticket = 0;
  bool fresh = false;

  bool operator==(const ask_store&) const = default;
};

/// Nobody here works on it any more: let other processes have it.
struct disown_run {
  run_id run;

  bool operator==(const disown_run&) const = default;
};

/// Spawn its actors, from what the store answered.
struct begin_run {
  run_id run;
  bool fresh = false;
  std::optional<end_request> end;      ///< it ends at once, by this
  std::optional<time_point> deadline;  ///< of a time limit that began before

  bool operator==(const begin_run&) const = default;
};

/// Who asked for it waits for this.
struct answer_asker {
  run_id run;
  std::optional<error> failure;

  bool operator==(const answer_asker&) const = default;
};

/// Tell its actors to end it.
struct tell_end {
  run_id run;
  end_request how;

  bool operator==(const tell_end&) const = default;
};

/// It is executed for a person who approved it: it gets a moment.
struct end_soon {
  run_id run;

  bool operator==(const end_soon&) const = default;
};

/// End its actors as they are.
struct stop_actors {
  run_id run;

  bool operator==(const stop_actors&) const = default;
};

/// Its actors are gone: end its tools' work; then `on_work_ended`, or
/// `on_deadline`.
struct end_work {
  run_id run;
  run_ticket ticket = 0;

  bool operator==(const end_work&) const = default;
};

/// Nothing more will be offered to its readers.
struct close_readers {
  run_id run;
  std::optional<error> why;

  bool operator==(const close_readers&) const = default;
};

/// The table knows it no more.
struct forget_run {
  run_id run;

  bool operator==(const forget_run&) const = default;
};

/// Call `on_probe` after this time; 0: at once.
struct probe_later {
  duration pause{};

  bool operator==(const probe_later&) const = default;
};

/// The runtime closes, and no run is left to wait for.
struct all_runs_ended {
  bool operator==(const all_runs_ended&) const = default;
};

struct note_run {
  enum class level : std::uint8_t { info, warn, error } at = level::info;
  run_id run;
  std::string text;
  std::optional<error> why;

  bool operator==(const note_run&) const = default;
};

using run_effect =
    std::variant<ask_store, disown_run, begin_run, answer_asker, tell_end,
                 end_soon, stop_actors, end_work, close_readers, forget_run,
                 probe_later, all_runs_ended, note_run>;
using run_effects = std::vector<run_effect>;

}  // namespace riffle::core
