// SPDX-License-Identifier: MIT
#pragma once

// What a plan came to and what it cost, collected from its own log and those of
// its steps' runs. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/event.hpp"
#include "runtime/cli/view/run_stats.hpp"

namespace riffle::cli {

class plan_report {
 public:
  /// An event of the plan's log.
  void on(const event& x);

  /// Any event of the plan's log or of a step's run, behind `on`: it counts to
  /// its step.
  void count(const event& x);

  /// For each step and in total: lines for a person.
  [[nodiscard]] std::string stats_text() const;

  [[nodiscard]] const std::optional<events::plan_finished>& finished()
      const noexcept {
    return finished_;
  }
  /// The step that failed last, if one did.
  [[nodiscard]] const std::optional<events::plan_step_finished>& failed_step()
      const noexcept {
    return failed_;
  }

  /// One object: plan_id, session_id, status, answer, error?, steps: [{step,
  /// id, status, output, truncated, error?, run_id?, duration_ms, usage,
  /// cost_usd?, tools: [{name, calls, failures, duration_ms}]}], unasked?,
  /// duration_ms, totals: {usage, cost_usd?}. `session`: of the steps' runs, ""
  /// if none began.
  [[nodiscard]] std::string to_json(const std::string& session,
                                    std::uint32_t unasked) const;

 private:
  std::string step_mark(std::uint32_t step) const;
  [[nodiscard]] run_stats whole() const;

  std::string plan_;
  std::uint32_t total_ = 0;
  nlohmann::ordered_json steps_ = nlohmann::ordered_json::array();
  std::uint32_t step_ = 0;                        ///< that began last
  std::map<std::string, std::uint32_t> step_of_;  ///< runs of steps
  std::map<std::uint32_t, run_stats> stats_;      ///< by step
  std::optional<events::plan_step_finished> failed_;
  std::optional<events::plan_finished> finished_;
};

}  // namespace riffle::cli
