// SPDX-License-Identifier: MIT
#pragma once

// What a provider's headers say of its limits: how long to wait before the next
// request, so that no 429 comes. Pure.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle::model {

/// The value of a header of the answer; empty: it has none of that name.
using header_reader = std::function<std::string(const std::string& name)>;

/// Reads `anthropic-ratelimit-*` and `x-ratelimit-*`. `tokens`: about what the
/// request had. Nothing: enough is left of every limit, or nothing is said of
/// any. Else at most a minute: in the last fifth of a limit what is left is
/// spread over the time until it is full again.
std::optional<duration> read_pace(const header_reader& header,
                                  std::size_t tokens, wall_time now);

/// The time until a limit is full again: "6m0s", "17ms", seconds, a date as
/// in RFC 3339, or seconds or milliseconds since 1970.
std::optional<duration> read_reset(std::string_view text, wall_time now);

}  // namespace riffle::model
