// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/cli/fd_writer.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/run_report.hpp"
#include "runtime/cli/trace_writer.hpp"

namespace riffle::cli {

/// Where the events of one run go: standard output by `output_kind`, traces
/// to standard error.
class run_output {
 public:
  run_output(const common_options& options, fd_writer& out, fd_writer& err);

  /// Event lines of the run, in order, whole.
  void on_lines(std::string_view lines);

  /// After the last event: prints the answer or the object.
  void finish();

  [[nodiscard]] const run_report& report() const noexcept { return report_; }

 private:
  void on_line(std::string_view line);

  common_options options_;
  fd_writer& out_;
  fd_writer& err_;
  trace_writer traces_;
  run_report report_;
};

/// Whether colours may go to this descriptor: asked for, a terminal, and
/// $NO_COLOR is not set.
bool use_color(const common_options& options, const fd_writer& err);

}  // namespace riffle::cli
