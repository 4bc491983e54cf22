// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "messages/duration_text.hpp"
#include "runtime/config/config.hpp"

namespace riffle::config {

namespace {

struct unit {
  std::string_view name;
  std::int64_t ns;
};

// Longest unit first, so that of two texts of equal length the larger unit
// is taken.
constexpr std::array units = {
    unit{"h", 3'600'000'000'000},
    unit{"m", 60'000'000'000},
    unit{"s", 1'000'000'000},
    unit{"ms", 1'000'000},
    unit{"us", 1'000},
    unit{"ns", 1},
};

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t most_decimals = 9;

const unit* find_unit(std::string_view name) {
  for (const auto& x : units) {
    if (x.name == name) return &x;
  }
  return nullptr;
}

/// Takes digits off the front; nothing if there are none or too many.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t sum = 0;
  std::size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') {
    const int digit = text[n] - '0';
    if (sum > (most - digit) / 10) return std::nullopt;
    sum = sum * 10 + digit;
    ++n;
  }
  if (n == 0) return std::nullopt;
  text.remove_prefix(n);
  return sum;
}

std::int64_t power_of_ten(std::size_t n) {
  std::int64_t x = 1;
  while (n-- > 0) x *= 10;
  return x;
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
  const auto whole = take_digits(text);
  if (!whole) return std::nullopt;
  std::int64_t fraction = 0;
  std::int64_t scale = 1;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const auto before = text.size();
    const auto digits = take_digits(text);
    if (!digits || before - text.size() > most_decimals) return std::nullopt;
    fraction = *digits;
    scale = power_of_ten(before - text.size());
  }
  const auto* u = find_unit(text);
  if (!u || *whole > (most - u->ns) / u->ns) return std::nullopt;
  // fraction < scale <= 1e9, so the quotient and the remainder fit.
  const auto part =
      fraction * (u->ns / scale) + fraction * (u->ns % scale) / scale;
  if (fraction * (u->ns % scale) % scale != 0) return std::nullopt;
  return duration{*whole * u->ns + part};
}

std::string to_text(duration x) { return duration_text(x); }

}  // namespace riffle::config
