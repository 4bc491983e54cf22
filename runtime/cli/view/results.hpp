// SPDX-License-Identifier: MIT
#pragma once

// What `--output json` and `text` say of tasks that have ended. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_report.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// {usage, cost_usd?}
nlohmann::ordered_json totals_json(const token_usage& x);

/// A task with what its runs came to.
struct told_result {
  std::string task;
  task_result result{};
  run_report report{};
  std::optional<session_id> session{};  ///< where it runs, or would have
  std::string agent{};                  ///< empty: not known
};

/// {"results": [{task, run_id, session_id, status, answer, truncated?, error,
/// model, agent, usage, cost_usd, steps, tool_calls, unasked?, tools: [{name,
/// calls, failures, duration_ms}], calls, attempts, duration_ms}], "totals":
/// {usage, cost_usd}, volley_id?}. A task that had no run has {task,
/// session_id, status, answer, error?, agent} alone. `volley`: empty for a
/// single run.
std::string results_json(const std::vector<told_result>& all,
                         const std::string& volley);

/// The exit status that the task alone would have; one that was ended since
/// another failed has none of its own, and counts as completed.
exit_status status_of(const told_result& x);

/// The block of one of several tasks on standard output: its place, its task
/// (cut to a line), and its `answer`, as it goes there, or why there is none.
/// `place`: empty: the line of its end stands right above it, and is its head.
std::string result_text(const told_result& x, const std::string& place,
                        const std::string& answer);

/// What a volley came to.
struct volley_sum {
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t stopped = 0;
  std::size_t not_run = 0;
  token_usage usage{};  ///< of all runs
  std::uint64_t took_ms = 0;
};

/// "3 tasks: 2 done, 1 failed, 120 tokens in, 40 tokens out, $0.0450 — 12.3s"
std::string sum_text(const volley_sum& x);

}  // namespace riffle::cli
