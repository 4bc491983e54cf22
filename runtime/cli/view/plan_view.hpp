// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of a plan: how each step began and ended, above what goes
// on. Pure: the events of the plan's log and of its steps' runs, time and size
// in, bytes out.

#include <cstdint>
#include <optional>
#include <string>

#include "messages/event.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "runtime/cli/view/work_view.hpp"

namespace riffle::cli {

class plan_view : public work_view {
 public:
  explicit plan_view(const view_options& options);

  /// The next event, of the plan's log or of the run of its open step.
  screen_writes on(const event& x, time_point now, view_size size);

  /// "[2/5] ", of the step that is open; empty: none is.
  [[nodiscard]] std::string place_of_step() const {
    return step_ ? place(*step_) + " " : std::string{};
  }

  /// The last lines of what a call put out, below the step that failed by it;
  /// `why`: its error, which its tool may have written below it.
  [[nodiscard]] std::string last_lines(const std::string& output,
                                       const std::string& why) const;

 private:
  [[nodiscard]] std::string title_of(const events::plan_step_started& x) const;
  std::string end_step(const events::plan_step_finished& x,
                       std::size_t columns);

  trace_writer own_;                 ///< of what comes between steps
  std::optional<std::size_t> step_;  ///< the one that is open
  std::string title_;                ///< of it
  std::string heading_;              ///< of it, as a status says it
  std::string told_;                 ///< why its last call failed
  bool stopped_ = false;             ///< that was stopped at work
};

}  // namespace riffle::cli
