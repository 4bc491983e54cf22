// SPDX-License-Identifier: MIT
#include "runtime/model/http_pace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace riffle::model {

namespace {

constexpr duration longest = std::chrono::minutes{1};

/// How one provider names the three headers of a limit.
struct limit_names {
  const char* limit;
  const char* left;
  const char* reset;
  bool of_tokens;
};

constexpr std::array<limit_names, 9> all_limits{{
    {"anthropic-ratelimit-requests-limit",
     "anthropic-ratelimit-requests-remaining",
     "anthropic-ratelimit-requests-reset", false},
    {"anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
     "anthropic-ratelimit-tokens-reset", true},
    {"anthropic-ratelimit-input-tokens-limit",
     "anthropic-ratelimit-input-tokens-remaining",
     "anthropic-ratelimit-input-tokens-reset", true},
    {"anthropic-ratelimit-output-tokens-limit",
     "anthropic-ratelimit-output-tokens-remaining",
     "anthropic-ratelimit-output-tokens-reset", true},
    {"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
     "x-ratelimit-reset-requests", false},
    {"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
     "x-ratelimit-reset-tokens", true},
    {"x-ratelimit-limit-requests-day", "x-ratelimit-remaining-requests-day",
     "x-ratelimit-reset-requests-day", false},
    {"x-ratelimit-limit-tokens-minute", "x-ratelimit-remaining-tokens-minute",
     "x-ratelimit-reset-tokens-minute", true},
    {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", false},
}};

/// The number at the beginning, which is taken from the text.
std::optional<double> take_number(std::string_view& text) {
  double out = 0;
  const auto* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, out);
  if (error != std::errc{} || !std::isfinite(out) || out < 0)
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return out;
}

std::optional<double> whole_number(std::string_view text) {
  const auto out = take_number(text);
  return text.empty() ? out : std::nullopt;
}

duration seconds(double x) {
  constexpr double most = 366.0 * 24 * 3600;
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>{std::clamp(x, 0.0, most)});
}

struct unit {
  std::string_view name;
  double seconds;
};

/// Longer names first: "ms" is not "m".
constexpr std::array<unit, 8> units{{{"ms", 1e-3},
                                     {"us", 1e-6},
                                     {"µs", 1e-6},
                                     {"ns", 1e-9},
                                     {"h", 3600},
                                     {"m", 60},
                                     {"s", 1},
                                     {"d", 86400}}};

/// "1m30.5s".
std::optional<duration> read_units(std::string_view text) {
  double sum = 0;
  while (!text.empty()) {
    const auto number = take_number(text);
    const auto found = std::ranges::find_if(
        units, [&](const unit& x) { return text.starts_with(x.name); });
    if (!number || found == units.end()) return std::nullopt;
    sum += *number * found->seconds;
    text.remove_prefix(found->name.size());
  }
  return seconds(sum);
}

std::optional<duration> pace_of(const limit_names& names,
                                const header_reader& header, std::size_t tokens,
                                wall_time now) {
  const auto left = whole_number(header(names.left));
  if (!left) return std::nullopt;
  const auto limit = whole_number(header(names.limit));
  const auto reset = read_reset(header(names.reset), now);
  if (!reset) return std::nullopt;
  constexpr double last_part = 5;
  if (*left > 0 && (!limit || *left * last_part > *limit)) return std::nullopt;
  const auto of_one =
      names.of_tokens ? std::max(1.0, static_cast<double>(tokens)) : 1.0;
  const auto requests = std::floor(*left / of_one);
  const auto length = std::chrono::duration<double>{*reset}.count();
  return std::min(longest, seconds(length / (requests + 1)));
}

}  // namespace

std::optional<duration> read_reset(std::string_view text, wall_time now) {
  if (text.empty()) return std::nullopt;
  const auto now_seconds = static_cast<double>(now.us) / 1e6;
  if (const auto number = whole_number(text)) {
    constexpr double since_1970 = 1e9;
    constexpr double in_milliseconds = 1e12;
    if (*number >= in_milliseconds) return seconds(*number / 1e3 - now_seconds);
    return seconds(*number >= since_1970 ? *number - now_seconds : *number);
  }
  if (const auto length = read_units(text)) return length;
  constexpr std::size_t to_seconds = 19;  // "2026-01-31T09:30:00"
  wall_time at;
  if (!text.ends_with('Z') || text.size() <= to_seconds ||
      !parse(std::string{text.substr(0, to_seconds)} + ".000000Z", at))
    return std::nullopt;
  return seconds(static_cast<double>(at.us) / 1e6 - now_seconds);
}

std::optional<duration> read_pace(const header_reader& header,
                                  std::size_t tokens, wall_time now) {
  std::optional<duration> out;
  for (const auto& names : all_limits)
    if (const auto x = pace_of(names, header, tokens, now))
      out = std::max(out.value_or(duration{}), *x);
  return out;
}

}  // namespace riffle::model
