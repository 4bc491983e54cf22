// SPDX-License-Identifier: MIT
#pragma once

// The events of a run: one struct for each event_type, its members named like
// the keys of `data`. Members that hold JSON are texts of one JSON value,
// compact; an empty text means: left out (or `null`, where it says so).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/call.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "messages/usage.hpp"

namespace riffle::events {

struct run_started {
  session_id session{};
  std::string agent{};
  std::string model{};
  std::string task{};
  std::uint32_t max_steps = 0;
  std::optional<proposal_id> cause{};
  std::vector<attachment> attachments = {};  ///< left out if empty
  bool operator==(const run_started&) const = default;
};

struct step_start {
  std::uint32_t step = 0;
  std::uint32_t max_steps = 0;
  bool operator==(const step_start&) const = default;
};

struct step_restarted {
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;  ///< of the attempt that begins now; from 2
  std::string reason{};
  /// Text and reasoning in this range of `seq`, both ends included, are
  /// withdrawn. The publisher fills it in.
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  bool operator==(const step_restarted&) const = default;
};

struct llm_token {
  std::string content{};
  std::uint32_t step = 0;
  bool operator==(const llm_token&) const = default;
};

struct llm_reasoning {
  std::string content{};
  std::uint32_t step = 0;
  bool operator==(const llm_reasoning&) const = default;
};

/// `status`: the call began, or it never will.
enum class call_status : std::uint8_t { starting, not_started };

struct tool_call {
  call_id id{};
  std::string provider_id{};
  std::string tool{};
  std::string title{};
  std::string arguments{};       ///< JSON object; empty: rendered as null
  std::string arguments_text{};  ///< left out if empty
  effect eff = effect::mutating;
  std::uint32_t step = 0;
  call_status status = call_status::starting;
  std::string node{};  ///< left out if empty
  bool operator==(const tool_call&) const = default;
};

struct tool_progress {
  call_id id{};
  std::string tool{};
  tool_progress_report report{};
  bool operator==(const tool_progress&) const = default;
};

struct tool_result {
  call_id id{};
  std::string tool{};
  outcome how = outcome::ok;
  std::string output{};  ///< already cut for the event
  bool truncated = false;
  std::uint64_t duration_ms = 0;
  std::uint32_t attempts = 0;
  std::optional<error> err{};                ///< rendered as {code, message}
  std::string metadata{};                    ///< JSON object; left out if empty
  std::vector<attachment> attachments = {};  ///< left out if empty
  bool operator==(const tool_result&) const = default;
};

struct plan_updated {
  std::string action{};
  std::string plan{};  ///< JSON value
  bool operator==(const plan_updated&) const = default;
};

struct approval_required {
  proposal_id proposal{};
  call_id id{};
  std::string tool{};
  std::string title{};
  std::string arguments{};  ///< JSON object
  std::string preview{};    ///< left out if empty
  std::string reason{};
  std::optional<wall_time> expires_at{};
  /// What a decision is bound to: the call, its tool's definition, and what
  /// the preview was made from. Left out if empty.
  std::string digest = {};
  /// A person may approve further calls with this one (left out if not) …
  bool always = false;
  /// … also all that match this. Left out if empty.
  std::string pattern = {};
  bool operator==(const approval_required&) const = default;
};

enum class proposal_outcome : std::uint8_t {
  approved,
  denied,
  expired,
  cancelled
};

struct approval_resolved {
  proposal_id proposal{};
  call_id id{};
  proposal_outcome how = proposal_outcome::denied;
  std::string by{};
  std::string reason{};     ///< left out if empty
  std::string arguments{};  ///< JSON object; left out if empty
  /// Denied since nobody could be asked. Left out if not.
  bool unasked = false;
  bool operator==(const approval_resolved&) const = default;
};

/// `tool_call`: a call that the model asked for, to be decided later.
enum class proposal_source : std::uint8_t {
  seek_approval,
  inline_text,
  tool_call,
};
enum class proposal_status : std::uint8_t { open, approved, denied, expired };

struct proposal {
  proposal_id id{};
  proposal_source source = proposal_source::seek_approval;
  std::string summary{};
  proposal_status status = proposal_status::open;
  bool operator==(const proposal&) const = default;
};

struct usage {
  std::uint32_t step = 0;
  token_usage tokens{};
  bool operator==(const usage&) const = default;
};

/// `step`: of a plan; another `plan_step_started` of it follows.
enum class retry_what : std::uint8_t { model, tool, termination, step };

struct retry {
  retry_what what = retry_what::model;
  std::optional<call_id> id{};
  std::uint32_t attempt = 0;  ///< the attempt that failed
  std::uint32_t max_attempts = 0;
  std::uint64_t delay_ms = 0;
  std::string reason{};
  bool operator==(const retry&) const = default;
};

struct status {
  std::string text{};
  bool operator==(const status&) const = default;
};

/// Only when the run ends by it.
struct failure {
  error err{};
  std::optional<std::uint32_t> step{};
  bool operator==(const failure&) const = default;
};

struct final_answer {
  std::string content{};
  std::uint32_t steps = 0;
  token_usage usage{};
  std::uint32_t tools = 0;  ///< number of calls of the run
  /// The provider cut it off: at the model's limit for one answer, or by its
  /// content filter.
  bool truncated = false;
  bool operator==(const final_answer&) const = default;
};

enum class run_status : std::uint8_t { completed, failed, cancelled };

struct run_finished {
  run_status status = run_status::completed;
  std::uint64_t duration_ms = 0;
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
  token_usage usage{};
  std::optional<error> err{};
  bool operator==(const run_finished&) const = default;
};

// -- a plan's own log: `event::run` is `plan_…` -------------------------------

/// The first event of a plan.
struct plan_started {
  run_id plan{};
  std::uint32_t steps = 0;  ///< that it has
  bool operator==(const plan_started&) const = default;
};

/// A step begins, or begins again after a `retry` of `step`.
struct plan_step_started {
  std::uint32_t step = 0;  ///< its place in the plan, from 1
  std::string id{};
  std::string instruction{};  ///< as the plan says it; left out if empty
  std::string tool{};         ///< left out if empty
  run_id run{};               ///< that carries the instruction out; or empty
  std::uint32_t attempt = 1;
  bool operator==(const plan_step_started&) const = default;
};

struct plan_step_finished {
  std::uint32_t step = 0;
  std::string id{};
  run_status status = run_status::completed;
  std::string output{};  ///< already cut for the event
  bool truncated = false;
  std::optional<error> err{};
  run_id run{};  ///< left out if empty
  std::uint64_t duration_ms = 0;
  bool operator==(const plan_step_finished&) const = default;
};

/// The last event of a plan.
struct plan_finished {
  run_status status = run_status::completed;
  std::optional<std::string> answer{};  ///< of a completed one
  std::optional<error> err{};           ///< of any other
  std::uint64_t duration_ms = 0;
  bool operator==(const plan_finished&) const = default;
};

/// What a person said to the run while it worked. It stands right behind the
/// `step_start` of the step whose request has it.
struct user_message {
  std::string text{};
  std::uint32_t step = 0;
  bool operator==(const user_message&) const = default;
};

std::string_view to_string(call_status x) noexcept;
std::string_view to_string(proposal_outcome x) noexcept;
std::string_view to_string(proposal_source x) noexcept;
std::string_view to_string(proposal_status x) noexcept;
std::string_view to_string(retry_what x) noexcept;
std::string_view to_string(run_status x) noexcept;

/// The reverse of `to_string`; nothing for an unknown text.
std::optional<call_status> parse_call_status(std::string_view text) noexcept;
std::optional<proposal_outcome> parse_proposal_outcome(
    std::string_view text) noexcept;
std::optional<proposal_source> parse_proposal_source(
    std::string_view text) noexcept;
std::optional<proposal_status> parse_proposal_status(
    std::string_view text) noexcept;
std::optional<retry_what> parse_retry_what(std::string_view text) noexcept;
std::optional<run_status> parse_run_status(std::string_view text) noexcept;

using body = std::variant<run_started, step_start, step_restarted, llm_token,
                          llm_reasoning, tool_call, tool_progress, tool_result,
                          plan_updated, approval_required, approval_resolved,
                          proposal, usage, retry, status, failure, final_answer,
                          run_finished, plan_started, plan_step_started,
                          plan_step_finished, plan_finished, user_message>;

/// The event_type of an alternative, by `body::index()`.
std::string_view type_name(std::size_t index) noexcept;

/// The reverse of `type_name`; nothing for an unknown event_type.
std::optional<std::size_t> type_index(std::string_view name) noexcept;

}  // namespace riffle::events

namespace riffle {

/// One event of a run, numbered.
struct event {
  std::uint64_t seq = 0;
  run_id run{};
  events::body body{};
  wall_time at{};

  bool operator==(const event&) const = default;
};

}  // namespace riffle
