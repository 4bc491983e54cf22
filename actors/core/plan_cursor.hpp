// SPDX-License-Identifier: MIT
#pragma once

// Where the execution of a plan stands:
//
//   idle ─► working ─► (next step) … ─► answering ─► ended
//             │  ▲                          ▲
//     failed, ▼  │ pause over               │ a step that stops the plan,
//             waiting                       │ cancel, time limit: without it
//             └─────────────────────────────┘
//
// One step is open at a time. Pure: it knows nothing of actors, runs or
// calls; each function returns what is to be done, in order.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/plan_document.hpp"
#include "actors/core/retry_policy.hpp"
#include "actors/core/step_machine.hpp"
#include "messages/error.hpp"
#include "messages/event.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// What of a plan's progress must survive a crash.
struct plan_progress {
  std::uint32_t step = 0;     ///< that began last, from 1; 0: none
  std::uint32_t attempt = 0;  ///< of it, from 1
  bool attempt_over = false;  ///< it failed, and is tried again
  bool step_over = false;

  bool operator==(const plan_progress&) const = default;
};

/// How an attempt of a step ended.
struct step_end {
  events::run_status status = events::run_status::completed;
  std::optional<error> why{};  ///< unless it completed
  std::string output{};        ///< cut for the event
  bool truncated = false;

  bool operator==(const step_end&) const = default;
};

/// These events and the progress, in one commit. The run of a step is not
/// known here: its id is left empty. `last`: the plan ends with it.
struct record_plan {
  std::vector<events::body> events;
  plan_progress progress;
  bool last = false;
  bool operator==(const record_plan&) const = default;
};

/// Execute the step that was announced with the record before this; `resumed`:
/// it was in an earlier life, go on with what is there of it. Ends with
/// `on_step_ended`.
struct perform_step {
  std::size_t place = 0;  ///< from 0
  std::uint32_t attempt = 1;
  bool resumed = false;
  bool operator==(const perform_step&) const = default;
};

/// It shall end; it still ends with `on_step_ended`.
struct stop_step {
  end_request how;
  bool overdue = false;  ///< the step's own time limit ends it
  bool operator==(const stop_step&) const = default;
};

/// Call `on_waited` after this time.
struct wait_to_retry {
  duration delay{};
  bool operator==(const wait_to_retry&) const = default;
};

/// Call `on_answer` with the whole output of this step.
struct fetch_answer {
  std::optional<std::size_t> place;  ///< nothing: no step completed
  bool operator==(const fetch_answer&) const = default;
};

using plan_effect = std::variant<record_plan, perform_step, stop_step,
                                 wait_to_retry, fetch_answer>;
using plan_effects = std::vector<plan_effect>;

struct plan_limits {
  retry_limits retry;  ///< of steps with on_error = "retry"
};

class plan_cursor {
 public:
  plan_cursor() = default;
  /// `plan` outlives it. `random01`: jitter of retries, in [0, 1).
  plan_cursor(const plan_document& plan, run_id id, plan_limits limits,
              std::function<double()> random01);

  plan_effects start(time_point now);

  /// One that was interrupted. `ended`: how the steps ended that did, in order.
  plan_effects recover(plan_progress progress,
                       std::vector<events::run_status> ended, wall_time started,
                       wall_time wall_now, time_point now);

  plan_effects on_step_ended(step_end end, time_point now);
  /// The time limit of this attempt is over; of others: nothing.
  plan_effects on_step_due(std::size_t place, std::uint32_t attempt,
                           time_point now);
  plan_effects on_waited(time_point now);
  plan_effects on_answer(tl::expected<std::string, error> text, time_point now);
  /// Cancel, or the time limit of the plan; only the first one counts. Before
  /// `start` or `recover`: no step begins.
  plan_effects on_end_request(end_request request, time_point now);

  [[nodiscard]] bool ended() const noexcept { return phase_ == phase::ended; }
  /// The plan or the step shall end.
  [[nodiscard]] const std::optional<end_request>& stopping() const noexcept {
    return stop_;
  }
  [[nodiscard]] const plan_progress& progress() const noexcept {
    return progress_;
  }
  /// The step that is open, from 0.
  [[nodiscard]] std::size_t place() const noexcept {
    return progress_.step - 1;
  }

 private:
  enum class phase : std::uint8_t {
    idle,
    working,
    waiting,
    answering,
    ended,
  };
  using bodies = std::vector<events::body>;

  void recover_to_end(plan_effects& out, time_point now);
  void go_on(bodies events, plan_effects& out, time_point now);
  void announce(std::size_t place, std::uint32_t attempt, bodies& events,
                time_point now);
  void finish_step(const step_end& end, bodies& events, time_point now);
  bool after_failure(const step_end& end, bodies& events, plan_effects& out,
                     time_point now);
  void retry(const step_end& end, bodies events, plan_effects& out);
  void perform(bodies events, plan_effects& out, bool resumed = false);
  void finish(events::run_status status, std::optional<error> why,
              std::optional<std::string> answer, bodies events,
              plan_effects& out, time_point now);
  void end_as_requested(bodies events, plan_effects& out, time_point now);
  [[nodiscard]] const planned_step& current() const {
    return plan_->steps[place()];
  }
  [[nodiscard]] std::optional<std::string> missing(std::size_t place) const;
  [[nodiscard]] error plan_error(const error& why) const;

  const plan_document* plan_ = nullptr;
  run_id id_;
  plan_limits limits_;
  std::function<double()> random01_;
  phase phase_ = phase::idle;
  plan_progress progress_;
  std::vector<events::run_status> ended_;  ///< by place
  std::optional<end_request> request_;     ///< for the plan
  std::optional<end_request> stop_;        ///< for its open step
  time_point started_{};
  time_point step_started_{};
};

}  // namespace riffle::core
