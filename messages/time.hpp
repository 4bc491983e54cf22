// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace riffle {

/// A point on the monotonic clock; cores take it as an argument (`now`) and
/// never read a clock themselves.
using time_point = std::chrono::steady_clock::time_point;

using duration = std::chrono::nanoseconds;

/// A point on the wall clock: microseconds since 1970-01-01T00:00:00Z.
struct wall_time {
  std::int64_t us = 0;

  auto operator<=>(const wall_time&) const = default;
};

/// RFC 3339 in UTC with six digits: `2026-01-31T09:30:00.123456Z`.
/// Times outside of the years 0000 to 9999 become the nearest of them.
std::string to_string(wall_time x);

/// Characters of that text.
inline constexpr std::size_t time_text_size = 27;

/// The same without an allocation.
void write(wall_time x, std::span<char, time_text_size> out);

/// The reverse of `to_string`; a text of any other form gives false.
bool parse(std::string_view text, wall_time& out);

}  // namespace riffle
