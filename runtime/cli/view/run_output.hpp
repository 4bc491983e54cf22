// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/terminal/live_view.hpp"
#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/view/run_report.hpp"

namespace riffle::cli {

/// Where the events of one run go: standard output by `output_kind`, traces
/// to standard error.
class run_output {
 public:
  run_output(const common_options& options, show_options show, fd_writer& out,
             fd_writer& err);

  /// `f` is called with each event that is shown, behind it; with events of
  /// calls, and text, only if somebody sees them.
  void listen(std::function<void(const event&)> f) { listener_ = std::move(f); }

  /// Event lines of the run, in order, whole.
  void on_lines(std::string_view lines, time_point now);

  /// About every 100 ms: keeps the status line alive.
  void tick(time_point now);

  /// Text for the person between what is shown; the last line may be open.
  void interject(const std::string& text) { write(view_.interject(text)); }

  /// What a person types meanwhile.
  void typing(std::string line) { view_.typing(std::move(line)); }

  /// Somebody else writes to standard error now.
  void hide_status() { write(view_.hide_status()); }

  /// An open question stands at the end: `erasure` removes it before anything
  /// else is written.
  void cover(std::function<std::string()> erasure) {
    erasure_ = std::move(erasure);
  }
  /// The question may be the last thing again; whether it was removed.
  bool uncover();

  /// What goes on, in a few words.
  [[nodiscard]] std::string doing(std::size_t columns) const {
    return view_.doing(columns);
  }

  /// The user asked for the end.
  void cancelling() { view_.cancelling(); }

  /// After the last event: prints the answer or the object.
  void finish();

  [[nodiscard]] const run_report& report() const noexcept { return report_; }

 private:
  void on_line(std::string_view line, time_point now);
  void write(const screen_writes& all);
  [[nodiscard]] std::size_t columns() const;

  common_options options_;
  bool tool_trace_;
  fd_writer& out_;
  fd_writer& err_;
  live_view view_;
  bool wants_calls_;  ///< what calls did is shown, or reported
  run_report report_;
  std::function<void(const event&)> listener_;
  std::function<std::string()> erasure_;  ///< empty: no question is open
  bool uncovered_ = false;
};

/// How a run is shown on these outputs: what a terminal that can do nothing
/// ($TERM is "dumb" or missing) gets is what a file gets.
view_options view_of(const common_options& options, show_options show,
                     const fd_writer& out, const fd_writer& err);

/// Whether the terminal can do more than write from left to right.
bool can_erase();

/// Whether colours may go to this descriptor: always asked for, or asked for, a
/// terminal, and $NO_COLOR is not set, and $TERM is not "dumb" or missing.
bool use_color(const common_options& options, const fd_writer& err);

}  // namespace riffle::cli
