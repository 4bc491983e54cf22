// SPDX-License-Identifier: MIT
#include "messages/duration_text.hpp"

#include <array>
#include <cstdint>
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

}  // namespace riffle
