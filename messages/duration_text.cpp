// SPDX-License-Identifier: MIT
#include "messages/duration_text.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace riffle {

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

constexpr std::size_t most_decimals = 9;

/// `ns` as a decimal number of units, exact; empty if that takes more digits
/// than the configuration reads.
std::string in_unit(std::int64_t ns, const unit& u) {
  auto text = std::to_string(ns / u.ns);
  auto rest = ns % u.ns;
  if (rest == 0) return text.append(u.name);
  text += '.';
  for (std::size_t i = 0; rest != 0; ++i) {
    if (i == most_decimals) return {};
    rest *= 10;
    text += static_cast<char>('0' + rest / u.ns);
    rest %= u.ns;
  }
  return text.append(u.name);
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

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

std::string duration_text(duration x) {
  const auto ns = x.count();
  if (ns <= 0) return "0s";
  std::string best;
  for (const auto& u : units) {
    if (ns < u.ns) continue;  // "100ms", not "0.1s"
    auto text = in_unit(ns, u);
    if (!text.empty() && (best.empty() || text.size() < best.size())) {
      best = std::move(text);
    }
  }
  return best;
}

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

}  // namespace riffle
