// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/live_view.hpp"
#include "runtime/cli/view/run_report.hpp"
#include "runtime/cli/view/work_output.hpp"

namespace riffle::cli {

/// Where the events of one run go: standard output by `output_kind`, traces
/// to standard error. Events of calls, and text, are shown only if somebody
/// sees them.
class run_output : public work_output {
 public:
  run_output(const common_options& options, show_options show, fd_writer& out,
             fd_writer& err);

  /// Event lines of the run, in order, whole.
  void on_lines(std::string_view lines, time_point now);

  /// After the last event: prints the answer or the object.
  void finish();

  [[nodiscard]] const run_report& report() const noexcept { return report_; }

 private:
  void on_line(std::string_view line, time_point now);

  common_options options_;
  bool tool_trace_;
  live_view& view_;
  bool wants_calls_;  ///< what calls did is shown, or reported
  run_report report_;
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
