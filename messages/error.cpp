// SPDX-License-Identifier: MIT
#include "messages/error.hpp"

#include "messages/enum_text.hpp"

namespace riffle {

namespace {

constexpr text_table<28> codes = {
    "invalid_plan",
    "agent_not_streaming",
    "step_execution_error",
    "tool_execution_error",
    "stream_interrupted",
    "timeout",
    "invalid_arguments",
    "tool_not_found",
    "tool_unavailable",
    "approval_denied",
    "approval_expired",
    "interrupted",
    "cancelled",
    "truncated",
    "model_error",
    "model_rate_limited",
    "model_unreachable",
    "max_steps_exceeded",
    "budget_exceeded",
    "loop_detected",
    "not_terminated",
    "session_busy",
    "storage_unavailable",
    "storage_corrupt",
    "invalid_config",
    "invalid_request",
    "not_found",
    "internal",
};
static_assert(codes.size() == errc_count);
static_assert(covers(codes, errc::internal));

}  // namespace

std::string_view to_string(errc code) noexcept { return text_of(codes, code); }

std::optional<errc> parse_errc(std::string_view text) noexcept {
  return enum_of<errc>(codes, text);
}

std::string render(const error& x) {
  std::string result{to_string(x.code)};
  if (!x.message.empty()) result.append(": ").append(x.message);
  if (!x.op.empty()) result.append(" (").append(x.op).append(")");
  return result;
}

}  // namespace riffle
