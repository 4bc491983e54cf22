// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/api/volley.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// Of these, the newest that began in `folder` and whose process is gone; that
/// of `session`, if it has one.
std::optional<storage::run_record> left_behind(
    const std::vector<unfinished_run>& all, const std::string& folder,
    const session_id& session = {});

/// "A run of this folder was not finished: "task" (session s1, begun 3m 05s
/// ago)."; of a run that works on a task of a volley, the same of that, which
/// has so many `tasks`.
std::string unfinished_text(const storage::run_record& x, wall_time now,
                            std::size_t tasks = 0);

/// Whether `finish_first` is about to speak of the run of this session, if it
/// is told of it.
bool speaks_of(const std::vector<unfinished_run>& all,
               const session_id& session, verbosity level);

/// Who begins something while that is there.
struct next_work {
  const common_options& common;
  const show_options& show;
  const config::config& settings;
  bool stdin_is_taken = false;  ///< nobody can type there
  /// The session that goes on: its run comes before others.
  session_id session = {};
  /// Set where a person was asked, if that is wanted.
  bool* asked = nullptr;
  /// What was typed and is no answer; nothing: it is forgotten.
  other_typing typed = {};
  /// Who decides about the calls of a run that goes on …
  approve approval = approve::ask;
  /// … and who shows it, or the plan that it is: its exit status. Nothing:
  /// `watch` does.
  std::function<int(const run&)> shows = {};
  /// The same of a volley.
  std::function<int(volley&)> shows_volley = {};
  /// What begins behind it ("your task: …"): a line between them says so.
  /// Empty: nothing does.
  std::string next = {};
};

/// What is to be known before a run, or the volley that it belongs to, goes on:
/// which of its calls may have acted, and nobody knows. Whole lines, maybe
/// none.
std::string cut_calls_of(runtime& rt, const storage::run_record& x,
                         const console& io);
/// The same of a volley.
std::string cut_calls_of(runtime& rt, const std::string& volley,
                         const console& io);

/// Says that what somebody was to begin behind it was not begun; the status.
int not_begun(console& io);

/// Before `run` starts its tasks, and at the beginning of `chat`: a run that a
/// crash interrupted in this folder, or the volley that it belongs to, is
/// offered at a terminal, and finished first if the person wants it; so is a
/// volley that was killed while its tasks waited for their next run. Without a
/// terminal, or where its answer would stand in a file before another one, one
/// line says how to finish it. Returns the exit status of what was
/// finished.
int finish_first(runtime& rt, const next_work& x, interrupts& signals,
                 room_wait& room, console& io);

}  // namespace riffle::cli
