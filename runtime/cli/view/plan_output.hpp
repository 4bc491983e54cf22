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

namespace riffle::cli {

/// Where the events of a plan and of its steps' runs go: standard output by
/// `output_kind`, traces to standard error. What a step says is no answer: only
/// the plan's goes to standard output.
class plan_output {
 public:
  plan_output(run_id plan, const common_options& options, show_options show,
              fd_writer& out, fd_writer& err);

  /// `f` is called with each event that is shown, behind it.
  void listen(std::function<void(const event&)> f) { listener_ = std::move(f); }

  void on(const event_batch& batch, time_point now);
  void tick(time_point now);
  void interject(const std::string& text) { write(view_.interject(text)); }
  void cancelling() { view_.cancelling(); }

  /// After the last event: the answer or the object, if the plan has ended.
  void finish(std::uint32_t unasked);

  [[nodiscard]] const plan_report& report() const noexcept { return report_; }
  /// Calls that were denied since nobody could be asked.
  [[nodiscard]] std::uint32_t unasked() const noexcept {
    return runs_.unasked();
  }

 private:
  void on(const event_view& x, time_point now);
  void write(const screen_writes& all);
  [[nodiscard]] view_size size() const;

  const run_id plan_;
  const common_options options_;
  const show_options show_;
  fd_writer& out_;
  fd_writer& err_;
  plan_view view_;
  plan_report report_;
  run_report runs_;  ///< of all of them, and of the plan's own calls
  std::function<void(const event&)> listener_;
};

}  // namespace riffle::cli
