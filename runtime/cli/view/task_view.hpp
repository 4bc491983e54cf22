// SPDX-License-Identifier: MIT
#pragma once

// One of several that a person watches: a task of a volley, a step of a plan.
// What it does at the moment and what its tools did are rows below all else
// while it works; at its end they fold into the one line that says how it
// ended. Where no terminal can be drawn on, and with -v, its traces are lines
// for good. Pure.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "messages/event.hpp"
#include "messages/time.hpp"
#include "runtime/cli/terminal/live_view.hpp"
#include "runtime/cli/view/activity.hpp"
#include "runtime/cli/view/reasoning_lines.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

/// Of the terminal; 0: none.
struct view_size {
  std::size_t columns = 0;
  std::size_t rows = 0;
};

/// Columns of a title where there is no terminal.
inline constexpr std::size_t file_columns = 100;

class task_view {
 public:
  /// `place`: "[1/3]". `marked`: each of its lines stands behind that.
  task_view(const view_options& options, std::string place, std::string title,
            bool marked, time_point now);

  /// It works once more, behind an attempt that failed.
  void begin_again(time_point now, std::string title);

  /// An event of a run of it: the lines that stay, if there are any.
  std::string on(const event& x, std::size_t columns);
  /// The same about every 100 ms: what waited for the next event.
  std::string rest();
  void cancelling() { doing_.cancelling(); }

  /// Whether its traces fold; else they are lines.
  [[nodiscard]] bool folds() const noexcept { return folds_; }
  /// The line that says that it begins, for where it has no rows.
  [[nodiscard]] std::string begin_line(std::size_t columns) const;
  /// What it is and does, and below that the last of its traces; at most so
  /// many rows (at least one), each with its '\n'.
  [[nodiscard]] std::string rows(time_point now, std::size_t columns,
                                 std::size_t most) const;
  /// Traces that wait to be folded.
  [[nodiscard]] std::size_t traces() const noexcept { return kept_.size(); }

  /// It ended: lines that stay above its last one. Of what went well nothing
  /// does.
  std::string end(bool well);
  /// ", 3 calls": what was folded; empty if nothing was.
  [[nodiscard]] std::string folded() const;

 private:
  std::string keep(std::string lines);
  [[nodiscard]] std::string marked(std::string_view lines) const;

  const bool color_;
  const bool reasoning_;
  const bool verbose_;
  const bool folds_;
  const bool marked_;
  std::string place_;
  std::string title_;
  const char* sign_ = "▶";
  time_point since_;
  trace_writer traces_;
  reasoning_lines thoughts_;
  activity doing_;
  std::deque<std::string> kept_;  ///< the last lines of its traces
  std::uint64_t dropped_ = 0;     ///< those before them
  std::uint64_t calls_ = 0;       ///< that ended
};

/// As many rows as a status may take: half of the screen stays with what was
/// said.
std::size_t status_rows(view_size size);

/// The rows of all that work, as many as fit, each with as many of its traces
/// as there is room for; `hidden`: how many found none.
std::string rows_of(const std::vector<const task_view*>& all, time_point now,
                    std::size_t columns, std::size_t most, std::size_t& hidden);

/// In red or green, where there are colours.
std::string painted(std::string_view text, const char* paint, bool color);

}  // namespace riffle::cli
