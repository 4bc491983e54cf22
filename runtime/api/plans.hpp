// SPDX-License-Identifier: MIT
#pragma once

// What a plan that was started by `runtime::start_plan` says: its own log with
// the logs of its steps' runs between, as event lines (`plan_events`) or as
// chunks (`plan_stream`, `execute_plan`). Readers pull from the journal: one
// that is slow, or gone, holds up nothing. All of them may outlive the runtime.

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>

#include "runtime/api/riffle.hpp"

namespace riffle {

/// Both kinds of logs, each complete and in its order; the log of a step's run
/// stands behind the line that announces it and before the one that ends the
/// step. One reader thread at a time.
class plan_events {
 public:
  /// `plan`: as `start_plan` or `resume` gave it.
  explicit plan_events(run plan);

  /// The next lines, all of one run (`event_batch::run`), waiting up to `limit`
  /// for them. Nothing: none in that time, or the end.
  std::optional<event_batch> next(duration limit);
  /// Nothing more will come: see `event_stream::ended`.
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::optional<error> failure() const {
    return plan_log_.failure();
  }

 private:
  struct step_log {
    run_id run{};
    std::uint64_t last_seq = 0;
    std::optional<event_stream> log{};
    bool is_over = false;    ///< the plan says that the step has ended
    bool last_look = false;  ///< after that
  };
  std::optional<event_batch> from_step(duration limit);
  std::optional<event_batch> from_plan();
  void take(const event_batch& batch);

  run plan_;
  event_stream plan_log_;
  std::deque<event_batch> waiting_;  ///< of the plan's log, in pieces
  std::optional<step_log> step_;
};

/// What a tool did in a step, directly or for its agent.
struct plan_tool_result {
  std::string tool{};
  std::string input{};   ///< JSON object; empty: it could not be read
  std::string output{};  ///< as in events: cut to `publish.output_limit`
  bool truncated = false;
  duration took{};
  std::optional<error> failure{};
};

/// A piece of a plan's execution. The first of each step has nothing but its
/// place; the last of all has a final answer or a failure.
struct plan_chunk {
  run_id plan{};
  std::uint32_t step = 0;  ///< from 1; 0: of the plan itself
  std::string step_id{};
  std::string content{};  ///< text, as it comes
  /// What was said in this step so far is withdrawn: its agent, or the step
  /// itself, starts again.
  bool restarted = false;
  std::optional<plan_tool_result> tool{};
  /// Why the step did not complete, also where the plan goes on (`on_error`);
  /// the step's last chunk.
  std::optional<error> step_failure{};
  std::optional<std::string> final_answer{};
  /// Its code is one of plans: step_execution_error, tool_execution_error,
  /// timeout, stream_interrupted.
  std::optional<error> failure{};
  wall_time at{};

  [[nodiscard]] bool is_last() const noexcept {
    return final_answer.has_value() || failure.has_value();
  }
};

/// The chunks of a plan, to be asked for. One reader thread at a time.
class plan_stream {
 public:
  explicit plan_stream(run plan) : events_{std::move(plan)} {}

  /// The next chunk, waiting up to `limit`. Nothing: none in that time, or the
  /// end. If the log cannot be read to its end the last chunk says so.
  std::optional<plan_chunk> next(duration limit);
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  void take(const event_batch& batch);
  void take(const event& x);
  plan_chunk& add(const event& x);

  plan_events events_;
  run_id plan_;
  std::deque<plan_chunk> ready_;
  std::uint32_t step_ = 0;
  std::string step_id_;
  std::map<call_id, std::string> inputs_;  ///< of open calls
  bool ended_ = false;
};

using chunk_handler = std::function<void(const plan_chunk&)>;

/// A plan that was started: its handle, and its last chunk once it is there.
struct started_plan {
  run plan;
  std::future<plan_chunk> last{};
};

/// Starts a plan and calls `on_chunk` with each chunk, on a thread of its own,
/// one call at a time; the future is ready after the last one. Nobody has to
/// wait for it. Fails as `runtime::start_plan`. What `on_chunk` throws is in
/// the future, and it is not called again; the plan goes on.
[[nodiscard]] expected<started_plan> execute_plan(runtime& rt,
                                                  plan_request request,
                                                  chunk_handler on_chunk);

/// The same to be asked for chunks.
[[nodiscard]] expected<plan_stream> execute_plan(runtime& rt,
                                                 plan_request request);

}  // namespace riffle
