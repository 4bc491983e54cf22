// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/event.hpp"

namespace riffle::cli {

/// One line of JSON for a call that ended: run_id, id, tool, title, outcome,
/// duration_ms, attempts, error?, metadata. `title`: of its beginning.
std::string tool_trace(const run_id& run, const events::tool_result& x,
                       const std::string& title);

/// `usage` of events: optional parts only where they are known.
nlohmann::ordered_json usage_json(const token_usage& x);

/// What a run came to, collected from its events; or a task, whose last run it
/// then is, with what all of its runs have cost.
class run_report {
 public:
  void on(const event& x);

  /// Another run of the same task begins.
  void begin_next();
  /// A run of the same task that came before those that are known.
  void add_earlier(const run_report& x);

  /// Set once run_finished came.
  [[nodiscard]] const std::optional<events::run_finished>& finished()
      const noexcept {
    return finished_;
  }
  [[nodiscard]] const std::string& answer() const noexcept { return answer_; }
  /// The provider cut the answer off.
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  /// Tokens of the model's last words, as it counts them; 0: it did not say.
  [[nodiscard]] std::uint64_t last_output_tokens() const noexcept {
    return last_output_tokens_;
  }
  [[nodiscard]] const std::string& session() const noexcept { return session_; }
  /// The error that the run ended with.
  [[nodiscard]] std::optional<error> failure() const;

  /// The title of a call, from its beginning to its end.
  [[nodiscard]] std::string title_of(const call_id& id) const;

  /// Calls that were denied since nobody could be asked.
  [[nodiscard]] std::uint32_t unasked() const noexcept { return unasked_; }

  /// Calls that were proposed, for a decision later.
  [[nodiscard]] std::uint32_t proposed() const noexcept { return proposed_; }

  /// Of all runs; of one that has not ended as far as its steps told it.
  [[nodiscard]] token_usage usage() const;
  [[nodiscard]] const std::string& task() const noexcept { return task_; }

  /// task, run_id, session_id, status, answer, truncated?, error?, model,
  /// agent, usage, cost_usd?, steps, tool_calls, unasked?, tools: [{name,
  /// calls, failures, duration_ms}], calls: [{id, tool, title, …}],
  /// duration_ms. From `usage` on, but for `unasked`, of all runs.
  [[nodiscard]] nlohmann::ordered_json to_json() const;

 private:
  std::string task_;
  std::string agent_;
  std::string model_;
  std::string run_;
  std::string session_;
  std::string answer_;
  bool truncated_ = false;
  std::uint64_t last_output_tokens_ = 0;
  std::optional<error> failure_;
  std::optional<events::run_finished> finished_;
  std::uint32_t unasked_ = 0;
  std::uint32_t proposed_ = 0;
  events::run_finished earlier_;  ///< the sums of the runs before
  token_usage told_;              ///< by the steps of a run that has not ended
  nlohmann::ordered_json calls_ = nlohmann::ordered_json::array();
  std::unordered_map<call_id, std::string> titles_;  ///< of open calls
};

}  // namespace riffle::cli
