// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

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

/// Adds `x` to `sum`; optional parts appear once one of both has them.
void add(token_usage& sum, const token_usage& x);

}  // namespace riffle
