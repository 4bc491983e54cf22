// SPDX-License-Identifier: MIT
#include "messages/event.hpp"

#include "messages/enum_text.hpp"

namespace riffle::events {

namespace {

constexpr text_table<23> types = {
    "run_started",
    "step_start",
    "step_restarted",
    "llm_token",
    "llm_reasoning",
    "tool_call",
    "tool_progress",
    "tool_result",
    "plan_updated",
    "approval_required",
    "approval_resolved",
    "proposal",
    "usage",
    "retry",
    "status",
    "error",
    "final_answer",
    "run_finished",
    "plan_started",
    "plan_step_started",
    "plan_step_finished",
    "plan_finished",
    "user_message",
};
static_assert(types.size() == std::variant_size_v<body>);

constexpr text_table<2> call_statuses = {"starting", "not_started"};
static_assert(covers(call_statuses, call_status::not_started));

constexpr text_table<4> decisions = {
    "approved",
    "denied",
    "expired",
    "cancelled",
};
static_assert(covers(decisions, proposal_outcome::cancelled));

constexpr text_table<3> sources = {"seek_approval", "inline", "tool_call"};
static_assert(covers(sources, proposal_source::tool_call));

constexpr text_table<4> proposal_statuses = {
    "open",
    "approved",
    "denied",
    "expired",
};
static_assert(covers(proposal_statuses, proposal_status::expired));

constexpr text_table<4> whats = {"model", "tool", "termination", "step"};
static_assert(covers(whats, retry_what::step));

constexpr text_table<3> run_statuses = {"completed", "failed", "cancelled"};
static_assert(covers(run_statuses, run_status::cancelled));

}  // namespace

std::string_view to_string(call_status x) noexcept {
  return text_of(call_statuses, x);
}

std::string_view to_string(proposal_outcome x) noexcept {
  return text_of(decisions, x);
}

std::string_view to_string(proposal_source x) noexcept {
  return text_of(sources, x);
}

std::string_view to_string(proposal_status x) noexcept {
  return text_of(proposal_statuses, x);
}

std::string_view to_string(retry_what x) noexcept { return text_of(whats, x); }

std::string_view to_string(run_status x) noexcept {
  return text_of(run_statuses, x);
}

std::optional<call_status> parse_call_status(std::string_view text) noexcept {
  return enum_of<call_status>(call_statuses, text);
}

std::optional<proposal_outcome> parse_proposal_outcome(
    std::string_view text) noexcept {
  return enum_of<proposal_outcome>(decisions, text);
}

std::optional<proposal_source> parse_proposal_source(
    std::string_view text) noexcept {
  return enum_of<proposal_source>(sources, text);
}

std::optional<proposal_status> parse_proposal_status(
    std::string_view text) noexcept {
  return enum_of<proposal_status>(proposal_statuses, text);
}

std::optional<retry_what> parse_retry_what(std::string_view text) noexcept {
  return enum_of<retry_what>(whats, text);
}

std::optional<run_status> parse_run_status(std::string_view text) noexcept {
  return enum_of<run_status>(run_statuses, text);
}

std::string_view type_name(std::size_t index) noexcept {
  return text_of(types, index);
}

std::optional<std::size_t> type_index(std::string_view name) noexcept {
  return enum_of<std::size_t>(types, name);
}

}  // namespace riffle::events
