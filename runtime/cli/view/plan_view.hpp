// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of a plan: how each step ended, and below that, as it
// changes, the step that works, its traces and the sum. Pure: the events of the
// plan's log and of its steps' runs, time and size in, bytes out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "runtime/cli/terminal/live_view.hpp"
#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/view/task_view.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

class plan_view {
 public:
  explicit plan_view(view_options options);

  /// False: text and reasoning need not be read at all.
  [[nodiscard]] bool wants_text() const noexcept {
    return options_.status || options_.reasoning;
  }

  /// The next event, of the plan's log or of the run of its open step.
  screen_writes on(const event& x, time_point now, view_size size);
  /// About every 100 ms.
  screen_writes tick(time_point now, view_size size);

  /// Text for the person; its last line may be open.
  screen_writes interject(std::string_view text) { return screen_.lines(text); }
  /// For standard output.
  screen_writes answer(std::string_view text);
  screen_writes hide_status() { return screen_.clear(); }
  void cancelling();
  [[nodiscard]] cursor_place cursor() const noexcept {
    return screen_.cursor();
  }

 private:
  [[nodiscard]] std::string place(std::uint32_t step) const;
  [[nodiscard]] std::string title_of(const events::plan_step_started& x) const;
  std::string begin_step(const events::plan_step_started& x, time_point now,
                         view_size size);
  std::string end_step(const events::plan_step_finished& x, view_size size);
  [[nodiscard]] std::string status(time_point now, view_size size) const;

  view_options options_;
  trace_writer own_;  ///< of what comes between steps
  screen screen_;
  std::optional<task_view> step_;  ///< the one that is open
  std::string title_;              ///< of it
  std::optional<time_point> began_;
  std::uint32_t total_ = 0;
  std::uint32_t done_ = 0;
  std::uint32_t failed_ = 0;
  bool over_ = false;
  bool cancelling_ = false;
};

}  // namespace riffle::cli
