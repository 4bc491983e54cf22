// SPDX-License-Identifier: MIT
#pragma once

// One of what a person watches: a run, a task of a volley, a step of a plan.
// What it does at the moment is a row below all else. Of several each has a
// place and a title; what its tools did are rows, too, while it works, and at
// its end they fold into the one line that says how it ended. Where no terminal
// can be drawn on, with -v, and of a run alone, its traces are lines for good.
// Pure.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "messages/time.hpp"
#include "runtime/cli/view/activity.hpp"
#include "runtime/cli/view/reasoning_lines.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "runtime/cli/view/view_options.hpp"

namespace riffle::cli {

/// How a task ended, in the words of who knows.
struct task_end {
  bool well = true;
  const char* sign = nullptr;  ///< else "✓" or "✗"
  std::string title;
  std::optional<std::uint64_t> took_ms;  ///< nothing: it never began
  std::string waited;                    ///< ", 2.0s of it waiting for you"
  std::string cut;                       ///< ", " and how its answer was cut
  std::string notes;                     ///< ", 2 runs"
  std::string as;                        ///< ", as [2/4]": in place of `why`
  std::string why;
  bool beside = false;  ///< that stands in the same line, else below it
};

class task_view {
 public:
  /// The only one.
  explicit task_view(const view_options& options)
      : task_view{options, {}, {}} {}
  /// One of several; each of its lines stands behind its `place`, "[1/3]".
  task_view(const view_options& options, std::string place, std::string title);

  /// The time counts from here, unless it does already.
  void seen(time_point now);
  /// It works once more, behind an attempt that failed.
  void begin_again(time_point now, std::string title);
  [[nodiscard]] time_point begun(time_point now) const {
    return first_.value_or(now);
  }

  /// Whole lines that stay.
  struct said {
    std::string thoughts;
    std::string traces;
  };
  /// An event of a run of it.
  said on(const event& x, std::size_t columns);
  /// The same about every 100 ms: what waited for the next event.
  std::string rest();
  void cancelling() { doing_.cancelling(); }
  /// A person has decided it here.
  void decided_here(const proposal_id& x) { traces_.decided_here(x); }
  /// The person has its question before him, all but some lines of it.
  void stands_asked(const proposal_id& x, const std::string& left_out) {
    traces_.stands_asked(x, left_out);
  }

  /// Whether its traces fold; else they are lines.
  [[nodiscard]] bool folds() const noexcept { return folds_; }
  /// The line that says that it begins, for where it has no rows.
  [[nodiscard]] std::string begin_line(std::size_t columns) const;
  /// What it is and does, and below that the last of its traces; at most so
  /// many rows (at least one), each with its '\n'.
  [[nodiscard]] std::string rows(time_point now, std::size_t columns,
                                 std::size_t most) const;
  /// Rows that it could fill.
  [[nodiscard]] std::size_t wanted_rows() const noexcept;
  [[nodiscard]] bool busy() const noexcept { return doing_.busy(); }
  /// Its tools in one row; empty: none works.
  [[nodiscard]] std::string tools_row(time_point now,
                                      std::size_t columns) const {
    return doing_.tools_line(now - since_.value_or(now), columns);
  }
  [[nodiscard]] std::string doing(std::size_t columns) const {
    return doing_.doing(columns);
  }
  /// When it asked for what waits for a decision.
  [[nodiscard]] std::optional<wall_time> asks_since() const {
    return doing_.asks_since();
  }
  /// Text of the model comes: what has to stand above it.
  std::string before_text() { return keep(traces_.repeated()); }
  [[nodiscard]] std::string withdrawn() const { return traces_.withdrawn(); }

  /// It ended: lines that stay. Of what went well those of calls that did not
  /// do; else the last of them all.
  std::string end(bool well);
  /// ", 3 calls, 1 denied": what was folded; empty if nothing was.
  [[nodiscard]] std::string folded() const;
  /// Whether its answer was cut off, which looks whole; empty: it was not.
  [[nodiscard]] std::string cut_text() const;
  /// See `question_time::text`.
  [[nodiscard]] std::string waited(std::uint64_t ms) const {
    return traces_.waited(ms);
  }

 private:
  [[nodiscard]] bool alone() const noexcept { return place_.empty(); }
  void count(const events::tool_result& x, const std::string& lines);
  std::string keep(std::string lines);
  [[nodiscard]] std::string marked(std::string_view lines) const;

  const bool color_;
  const bool reasoning_;
  const bool verbose_;
  const bool folds_;
  const wall_time opened_;  ///< when somebody began to watch
  std::string place_;
  std::string title_;
  const char* sign_ = "▶";
  std::optional<time_point> first_;  ///< it was seen
  std::optional<time_point> since_;  ///< the same of this attempt
  trace_writer traces_;
  reasoning_lines thoughts_;
  activity doing_;
  std::deque<std::string> kept_;   ///< the last lines of its traces
  std::uint64_t dropped_ = 0;      ///< those before them
  std::uint64_t calls_ = 0;        ///< that ended
  std::uint64_t denied_ = 0;       ///< of these
  std::uint64_t not_ok_ = 0;       ///< of these, for another reason
  bool cut_ = false;               ///< its answer
  std::uint64_t last_output_ = 0;  ///< tokens of that; 0: not known
  std::deque<std::string> bad_;    ///< their lines
};

/// "[1/3] ✓ title (2.4s, 3 calls)" and why, if it did not go well.
std::string end_line(const task_end& x, const std::string& place,
                     const std::string& folded, std::size_t columns,
                     bool color);

}  // namespace riffle::cli
