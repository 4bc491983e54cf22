// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of one run: traces, the model's text as it comes, a
// status line. Pure: events, time and width in, bytes out.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "messages/event.hpp"
#include "runtime/cli/markdown/markdown.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/view/activity.hpp"
#include "runtime/cli/view/reasoning_lines.hpp"
#include "runtime/cli/view/run_stats.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

struct view_options {
  verbosity level = verbosity::normal;
  bool color = false;
  bool out_terminal = false;  ///< the answer goes to a terminal
  bool live_text = false;     ///< the text of the model as it comes
  bool rendered = false;      ///< its Markdown as people see it
  bool styled = false;        ///< and with styles
  bool status = false;        ///< standard error is a terminal that can erase
  bool reasoning = false;
  bool stats = false;
  bool asks = false;  ///< questions show which calls need approval
};

class live_view {
 public:
  explicit live_view(view_options options);

  /// False: `on` does nothing with text and reasoning, so they need not be
  /// read at all.
  [[nodiscard]] bool wants_text() const noexcept;
  /// Whether events of calls, and statuses, change what is shown.
  [[nodiscard]] bool wants_calls() const noexcept;

  /// The events of the run, in order. `columns`: of the terminal; 0: none.
  screen_writes on(const event& x, time_point now, std::size_t columns);

  /// Call it about every 100 ms. `rows`: of the terminal; of an unknown number
  /// one is taken.
  screen_writes tick(time_point now, std::size_t columns, std::size_t rows = 0);

  /// Where the cursor stands.
  [[nodiscard]] cursor_place cursor() const noexcept {
    return screen_.cursor();
  }

  /// Text for the person; its last line may be open.
  screen_writes interject(std::string_view text);

  screen_writes hide_status() { return screen_.clear(); }

  /// What a person types meanwhile, shown below the status line; may be empty.
  void typing(std::string line) { typing_ = std::move(line); }

  /// What goes on, in a few words.
  [[nodiscard]] std::string doing(std::size_t columns) const {
    return activity_.doing(columns);
  }

  /// The user asked for the end.
  void cancelling() { activity_.cancelling(); }

  /// After the last event. `answer`: what is to stand on standard output;
  /// what stands there already is not repeated.
  screen_writes finish(const std::optional<std::string>& answer);

 private:
  void append(screen_writes& out, screen_writes more);
  [[nodiscard]] bool ends_text(const event& x) const;
  static bool may_end_text(const event& x);
  void pause_text(screen_writes& out);
  static bool begins_step(const event& x);
  [[nodiscard]] bool waits(const event& x) const;
  void release(screen_writes& out);
  void on_text(screen_writes& out, std::string_view content);
  void show_text(screen_writes& out, std::string text);
  void show_lines(screen_writes& out, std::string_view lines);
  void write_lines(screen_writes& out, std::string_view lines);
  [[nodiscard]] std::string whole_answer(const std::string& text) const;

  view_options options_;
  trace_writer traces_;
  activity activity_;
  run_stats stats_;
  reasoning_lines thoughts_;
  screen screen_;
  std::optional<time_point> began_;
  std::string typing_;
  markdown markdown_;
  std::size_t columns_ = 0;
  std::string shown_;         ///< of this step's text
  bool below_lines_ = false;  ///< traces stand right above what comes
  bool half_end_ = false;     ///< a '\r' came, and what follows is not known
  bool flows_ = false;        ///< text goes on in its open line
  std::optional<time_point> pauses_;  ///< since then it may have ended
  std::string held_;  ///< lines that wait for the end of a sentence
  time_point held_since_{};
};

}  // namespace riffle::cli
