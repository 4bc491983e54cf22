// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/plan_report.hpp"
#include "runtime/cli/view/plan_view.hpp"
#include "runtime/cli/view/run_report.hpp"
#include "runtime/cli/view/work_output.hpp"

namespace riffle::cli {

/// Where the events of a plan and of its steps' runs go: standard output by
/// `output_kind`, traces to standard error. What a step says is no answer: only
/// the plan's goes to standard output.
class plan_output : public work_output {
 public:
  plan_output(run_id plan, const common_options& options, show_options show,
              fd_writer& out, fd_writer& err);

  void on(const event_batch& batch, time_point now);

  /// After the last event: the answer or the object, if the plan has ended.
  void finish(std::uint32_t unasked);

  [[nodiscard]] const plan_report& report() const noexcept { return report_; }
  /// Calls that were denied since nobody could be asked.
  [[nodiscard]] std::uint32_t unasked() const noexcept {
    return runs_.unasked();
  }

 private:
  void on(const event_view& x, time_point now);
  void tell_end_of_output(const event& x);

  const run_id plan_;
  const common_options options_;
  const show_options show_;
  plan_view& view_;
  plan_report report_;
  run_report runs_;  ///< of all of them, and of the plan's own calls
  call_id call_;     ///< the last one of the step that is open, if that calls
};

}  // namespace riffle::cli
