// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace riffle {

/// Every way in which something can fail, as users see it. The text of a code
/// never changes.
enum class errc : std::uint8_t {
  invalid_plan,
  agent_not_streaming,
  step_execution_error,
  tool_execution_error,
  stream_interrupted,
  timeout,
  invalid_arguments,
  tool_not_found,
  tool_unavailable,
  approval_denied,
  approval_expired,
  interrupted,
  cancelled,
  truncated,
  model_error,
  model_rate_limited,
  model_unreachable,
  max_steps_exceeded,
  budget_exceeded,
  loop_detected,
  not_terminated,
  session_busy,
  storage_unavailable,
  storage_corrupt,
  invalid_config,
  invalid_request,
  not_found,
  internal,
};

/// Number of codes; the table in error.cpp is checked against it.
inline constexpr std::size_t errc_count =
    static_cast<std::size_t>(errc::internal) + 1;

/// The code as users see it, e.g. "tool_not_found".
std::string_view to_string(errc code) noexcept;

/// The reverse of `to_string`; nothing for an unknown text.
std::optional<errc> parse_errc(std::string_view text) noexcept;

/// What went wrong: where (`op`), what (`code`), and why plus what to do
/// (`message`, plain words, no trailing full stop needed).
struct error {
  errc code = errc::internal;
  std::string op{};
  std::string message{};
  /// Whether the same thing may succeed when it is tried again unchanged.
  bool retryable = false;
  /// What lower layers said; for the log, never for the model.
  std::string cause{};

  bool operator==(const error&) const = default;
};

/// `code: message (op)` for people.
std::string render(const error& x);

template <class T>
using expected = tl::expected<T, error>;

using unexpected = tl::unexpected<error>;

}  // namespace riffle
