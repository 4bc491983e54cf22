// SPDX-License-Identifier: MIT
#pragma once

// The promises that the events of one run keep. `event_check.hpp` checks whole
// files by it.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages/event.hpp"

namespace riffle {

/// A broken promise (the contract's number) and a plain sentence.
struct broken_promise {
  int promise = 0;
  std::string text;

  bool operator==(const broken_promise&) const = default;
};

/// Is shown the events of one run, or of one plan, in the order of its log.
/// After a broken promise it goes on as well as it can; what it says then may
/// follow from the first.
class run_checker {
 public:
  using finding = std::optional<broken_promise>;

  finding on_event(const event& x);

  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// It is a plan's own log.
  [[nodiscard]] bool is_plan() const noexcept { return is_plan_; }
  [[nodiscard]] const run_id& run() const noexcept { return run_; }
  /// `seq` of the newest event.
  [[nodiscard]] std::uint64_t last_seq() const noexcept { return seq_; }
  /// A line that could not be read stood where the next event was due.
  void skip_one() noexcept { ++seq_; }

 private:
  enum class stage : std::uint8_t { asked, begun, settled };

  struct call {
    stage at = stage::asked;
    std::string tool;
    bool started = false;
    std::optional<proposal_id> pending;
    std::optional<events::proposal_outcome> decision;
  };

  finding on(const events::run_started&) { return {}; }
  finding on(const events::step_start& x);
  finding on(const events::step_restarted& x);
  finding on(const events::llm_token& x);
  finding on(const events::llm_reasoning& x);
  finding on(const events::tool_call& x);
  finding on(const events::tool_progress& x);
  finding on(const events::tool_result& x);
  finding on(const events::plan_updated&) { return {}; }
  finding on(const events::approval_required& x);
  finding on(const events::approval_resolved& x);
  finding on(const events::proposal&) { return {}; }
  finding on(const events::usage& x);
  finding on(const events::retry& x) { return on_retried_step(x); }
  finding on(const events::status&) { return {}; }
  finding on(const events::user_message& x);
  finding on(const events::failure& x);
  finding on(const events::final_answer& x);
  finding on(const events::run_finished& x);

  // Plans (plan_check.cpp).
  finding on(const events::plan_started& x);
  finding on(const events::plan_step_started& x);
  finding on(const events::plan_step_finished& x);
  finding on(const events::plan_finished& x);
  finding on_retried_step(const events::retry& x);
  finding check_kind(const event& x) const;

  finding check_place(const event& x, std::uint64_t due) const;
  finding check_open_calls(const char* what) const;
  finding check_current(std::uint32_t step, const char* what) const;
  finding check_running(const call_id& id, const std::string& tool,
                        const char* what) const;
  finding check_end(events::run_status status) const;
  finding check_answer() const;
  finding check_counts(std::uint32_t steps, std::uint32_t tools,
                       const char* what) const;

  run_id run_;
  std::uint64_t seq_ = 0;
  bool started_ = false;
  bool finished_ = false;
  std::unordered_map<std::string, call> calls_;
  std::set<std::string> open_;  ///< ids that need a `tool_result`
  std::set<std::string> proposals_;
  std::uint32_t tool_calls_ = 0;

  std::uint32_t step_ = 0;
  std::uint32_t steps_ = 0;
  std::uint32_t attempt_ = 0;
  std::uint64_t step_seq_ = 0;
  /// Text of this step that is not withdrawn, with its `seq`.
  std::vector<std::pair<std::uint64_t, std::string>> text_;
  bool completed_by_call_ = false;  ///< `complete` ended ok in this step

  std::optional<events::final_answer> answer_;
  std::uint32_t errors_ = 0;

  bool is_plan_ = false;
  std::uint32_t plan_steps_ = 0;  ///< that it has
  bool step_open_ = false;        ///< `step_` of the plan has not finished
  bool step_again_ = false;       ///< and is announced once more
  std::string step_id_;
  std::optional<events::run_status> last_step_;  ///< how it ended
};

}  // namespace riffle
