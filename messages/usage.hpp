// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace riffle {

/// Tokens that one model call used. `estimated`: the provider did not say.
struct token_usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> cached_tokens{};
  std::optional<std::uint64_t> reasoning_tokens{};
  std::optional<double> cost_usd{};
  bool estimated = false;

  bool operator==(const token_usage&) const = default;
};

/// The sum, or the largest number.
constexpr std::uint64_t add_up(std::uint64_t x, std::uint64_t y) noexcept {
  return x + y < x ? ~std::uint64_t{0} : x + y;
}

/// Of both kinds; stops at the largest number, as all sums of usage do.
constexpr std::uint64_t total_tokens(const token_usage& x) noexcept {
  return add_up(x.input_tokens, x.output_tokens);
}

/// Adds `x` to `sum`; optional parts appear once one of both has them.
void add(token_usage& sum, const token_usage& x);

/// What a provider wants back, unchanged, with a message that it made.
struct turn_state {
  std::string maker{};  ///< server and model; nobody else gets it
  std::string text{};   ///< as its dialect wrote it; empty: nothing of its own

  bool operator==(const turn_state&) const = default;
};

}  // namespace riffle
