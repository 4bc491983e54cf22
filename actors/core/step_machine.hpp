// SPDX-License-Identifier: MIT
#pragma once

// The step loop of a run:
//
//   begin ─► streaming ─► settling ─► (next step) …            ─► ended
//               │  ▲          │
//     the turn  ▼  │ waiting  ▼ cancel, time limit
//     broke   breaking ──► draining ─────────────────────────► ended
//
// Pure. It knows nothing of actors, bytes or records; each function returns
// what is to be done.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/budget.hpp"
#include "actors/core/loop_detector.hpp"
#include "actors/core/retry_policy.hpp"
#include "actors/core/step_effects.hpp"
#include "actors/core/termination_policy.hpp"

namespace riffle::core {

struct step_limits {
  std::uint32_t max_steps = 30;
  retry_limits model_retry;
  std::uint32_t recovery_attempts = 3;
  std::uint32_t loop_limit = 0;  ///< see loop_detector
  run_budget budget;
  token_price price;
  termination_limits termination;
  termination_policy_ptr ending{};  ///< null: the one of `termination`
  /// Of an answer that must have a form: what is wrong with it, for the model;
  /// empty: nothing. May change the text (what stands around it goes). Null:
  /// any answer will do.
  std::function<std::string(std::string&)> answer_problem;
  std::string answer_form;  ///< JSON Schema, told with such a reminder
  /// The server does not make answers of that form: `complete` gives it.
  bool form_by_tool = false;
  bool only_completes = false;  ///< there is no other tool than `complete`
  /// The run ends when its first call has settled; the call's text is the
  /// answer.
  bool one_call = false;
  duration before_start{};  ///< counts for its duration: what it waited for
};

/// Why a run ends before its time.
struct end_request {
  error why;
  bool cancelled = true;  ///< false: the run's time limit

  bool operator==(const end_request&) const = default;
};

class step_machine {
 public:
  step_machine() = default;
  /// `random01`: jitter of retries, in [0, 1).
  step_machine(step_limits limits, std::function<double()> random01);

  /// A new run.
  step_effects start(time_point now);

  /// A run that executes one call and asks no model (`limits.one_call`): as if
  /// a turn had asked for it.
  step_effects start_with(asked_call call, time_point now);

  /// A run that was interrupted; `calls`: of the step's committed assistant
  /// message (empty if there is none), `settled`: those that are settled,
  /// `text`: of that message. `progress.tool_calls` counts every call on
  /// record. The caller restores the dispatch queue first.
  step_effects recover(run_progress progress, std::vector<asked_call> calls,
                       const std::vector<settled_call>& settled,
                       std::string text, wall_time started, wall_time wall_now,
                       time_point now);

  /// What the step that is recovered had said, if its turn is not committed:
  /// kept if the run ends now. Before `recover`.
  void recall(std::string said) { said_ = std::move(said); }

  /// A step that was done in an earlier life, before `recover`.
  void note_step(const std::vector<observed_call>& calls) {
    static_cast<void>(loops_.on_step(calls));
  }

  /// Why the turn that was just opened cannot be paid for.
  [[nodiscard]] std::optional<error> cannot_ask(
      std::uint64_t prompt_tokens) const {
    return cannot_pay(limits_.budget, limits_.price, progress_.usage,
                      prompt_tokens);
  }
  /// The turn that was just opened is not asked for; the run ends.
  step_effects refuse_turn(error why, time_point now);

  /// The turn came to nothing before anything of its answer was shown, and the
  /// model is asked in another way, within the same attempt.
  step_effects on_asked_anew(const turn_summary& turn);

  /// The turn ended, whatever way; no call of it follows.
  step_effects on_turn_over(turn_summary turn, time_point now);

  step_effects on_settled(settled_call call, time_point now);
  step_effects on_drained(time_point now);
  step_effects on_waited(time_point now);

  /// Cancel or time limit; only the first one counts.
  step_effects on_end_request(end_request request, time_point now);

  /// `recovered`: what `recover` returned, for a run that is only to end: no
  /// call that had not begun begins.
  step_effects end_recovered(step_effects recovered, end_request request,
                             time_point now);

  /// A person says something to the run while it works: the next request has
  /// it, and it is on record with that step. Where no further step begins it
  /// was never said. What waits already is not heard twice. Why it cannot be
  /// heard: the run ends, asks no model, or too much waits.
  std::optional<error> hear(std::string text);
  /// How many texts wait to be said.
  [[nodiscard]] std::size_t heard() const noexcept { return heard_.size(); }

  /// From now on the run is in this phase; it begins in that of its limits.
  void enter(std::string phase) { work_phase_ = std::move(phase); }

  /// The run made a proposal: if nothing is said in the end, the summaries of
  /// its proposals are the answer. Also called for those of an earlier life.
  void note_proposal(std::string summary) {
    proposals_.push_back(std::move(summary));
  }
  [[nodiscard]] bool has_proposals() const noexcept {
    return !proposals_.empty();
  }

  /// From now on `limits.form_by_tool`.
  void end_by_tool() { limits_.form_by_tool = true; }
  /// The turn that is asked for now is for `complete` alone: the model has
  /// ended its turn without an answer of the form, gave a wrong one, has no
  /// other tool, or this is the last step.
  [[nodiscard]] bool must_complete() const noexcept;

  [[nodiscard]] const run_progress& progress() const noexcept {
    return progress_;
  }
  [[nodiscard]] bool ended() const noexcept { return phase_ == phase::ended; }
  /// What the run does, in a word, for the log.
  [[nodiscard]] std::string_view phase_name() const noexcept;

 private:
  enum class phase : std::uint8_t {
    idle,
    streaming,
    settling,
    stopping_turn,  ///< the run ends; the turn is still open
    draining,       ///< the run ends; calls are still open
    breaking,       ///< the turn broke; calls are still open
    waiting,        ///< before the model is asked again
    ended,
  };

  void record(step_effects& out, std::vector<events::body> events,
              std::optional<new_message> message = {}, bool last = false);
  /// `events`, `message`: what led to it, in the same commit.
  void begin_step(step_effects& out, time_point now,
                  std::vector<events::body> events = {},
                  std::optional<new_message> message = {});
  void say_heard(std::vector<events::body>& events,
                 std::optional<new_message>& message);
  void spend(const turn_summary& turn, step_effects& out);
  void ask_again(step_effects& out);
  void restart_step(step_effects& out, std::string reason);
  void commit_turn(turn_summary turn, step_effects& out, time_point now);
  void break_turn(turn_summary turn, step_effects& out);
  void after_break(step_effects& out, time_point now);
  [[nodiscard]] bool given_up() const noexcept;
  void go_on(step_effects& out, time_point now);
  void without_calls(step_effects& out, time_point now);
  void step_done(step_effects& out, time_point now);
  /// `own`: the text is what the model said in its last turn.
  void complete(std::string answer, bool own, step_effects& out,
                time_point now);
  /// `text`: of the reminder; empty: a result says it.
  void remind(std::string text, std::string reason, step_effects& out,
              time_point now);
  /// Once more, or the end; `text`: of the reminder's number, see `remind`.
  void ask_for_form(const std::string& problem, std::string text,
                    step_effects& out, time_point now);
  void refuse_answer(const std::string& problem, step_effects& out,
                     time_point now);
  void fail(error why, events::run_status status, step_effects& out,
            time_point now, std::optional<new_message> said = {});
  void end_as_requested(step_effects& out, time_point now);
  [[nodiscard]] std::string problem_of(const std::string& text) const;
  [[nodiscard]] bool fits_form(const std::string& text) const;
  [[nodiscard]] std::string answer_of(termination x) const;
  [[nodiscard]] turn_end turn_ended() const;
  loop_report observe();
  [[nodiscard]] events::run_finished finished(events::run_status status,
                                              std::optional<error> why,
                                              time_point now) const;

  step_limits limits_;
  std::function<double()> random01_;
  phase phase_ = phase::idle;
  std::string work_phase_;  ///< of the conversation, see termination_policy
  run_progress progress_;
  time_point started_{};
  void expect(const std::vector<asked_call>& calls);

  std::unordered_map<call_id, bool> calls_;          ///< of this step: settled?
  std::size_t unsettled_ = 0;                        ///< of `calls_`
  std::unordered_map<call_id, observed_call> seen_;  ///< settled ones
  std::vector<asked_call> asked_;  ///< by the committed turn, in order
  loop_detector loops_;
  bool over_budget_ = false;           ///< a call of this step was refused
  std::string text_;                   ///< visible text of the committed turn
  std::string said_;                   ///< by a turn that did not end well
  bool cut_off_ = false;               ///< the provider ended that text early
  std::optional<std::string> answer_;  ///< by `complete`
  std::string refused_;                ///< what is wrong with one of this step
  std::vector<std::string> heard_;     ///< not yet said to the model
  std::vector<std::string> proposals_;
  std::uint32_t failed_attempts_ = 0;
  bool shown_ = false;
  bool recovering_ = false;
  std::optional<error> break_error_;
  std::optional<duration> retry_after_;
  std::optional<end_request> end_;
};

}  // namespace riffle::core
