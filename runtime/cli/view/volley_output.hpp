// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/api/volley.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/results.hpp"
#include "runtime/cli/view/run_stats.hpp"
#include "runtime/cli/view/volley_view.hpp"
#include "runtime/cli/view/work_output.hpp"

namespace riffle::cli {

/// Where the updates of a volley go: standard output by `output_kind`, traces
/// to standard error. Titles of questions say whose they are.
class volley_output : public work_output {
 public:
  volley_output(const common_options& options, show_options show,
                const volley& of, fd_writer& out, fd_writer& err);

  void on(const volley_update& x, time_point now);
  /// Event lines of a run that had ended before: read for the task's result,
  /// which comes behind them, not shown.
  void on_old(std::size_t task, const run_id& run, std::string_view lines);
  /// Whether a run of the task was shown here.
  [[nodiscard]] bool knows(std::size_t task, const run_id& run) const {
    return std::ranges::find(tasks_[task].runs, run) != tasks_[task].runs.end();
  }
  /// Whose question this is.
  [[nodiscard]] std::optional<std::size_t> task_of(const proposal_id& id) const;
  /// After the last update: what is still to be said on standard output.
  void finish();

  /// Tasks that completed or failed, and those that were cancelled or did not
  /// begin.
  [[nodiscard]] std::size_t ended() const noexcept { return ended_; }
  [[nodiscard]] std::size_t cancelled() const noexcept { return cancelled_; }
  /// Whether `finish` tells a person of all of them in one line.
  [[nodiscard]] bool tells_sum() const noexcept {
    return options_.output == output_kind::text && view_.has_status() &&
           !show_.stats;
  }
  /// Why no task had a run, by the first that could not begin; nothing: one
  /// had, or one was not tried.
  [[nodiscard]] std::optional<error> why_none_began() const;
  /// 130, 124, 1, 3, 0: the first that applies. `unanswered`: questions that
  /// nobody answered.
  [[nodiscard]] int status(std::uint32_t unanswered) const;

 private:
  struct task_state {
    told_result told;
    run_stats stats;
    std::vector<run_id> runs;          ///< that were shown
    std::map<run_id, run_report> old;  ///< that had ended before
    bool over = false;
  };

  void on_lines(std::size_t task, std::string_view lines);
  void on_line(std::size_t task, std::string_view line);
  void on_over(const task_result& x, time_point now);
  static void count_old(task_state& x);
  void tell_without_run(const told_result& x);
  void tell_ended(std::size_t just);
  [[nodiscard]] volley_sum sum() const;

  common_options options_;
  show_options show_;
  std::string id_;
  volley_view& view_;
  std::vector<task_state> tasks_;
  std::map<proposal_id, std::size_t> asked_;  ///< questions that were shown
  std::size_t next_told_ = 0;  ///< in task order, on standard output
  std::size_t ended_ = 0;
  std::size_t cancelled_ = 0;
};

}  // namespace riffle::cli
