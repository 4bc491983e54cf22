// SPDX-License-Identifier: MIT
#include "actors/core/token_estimate.hpp"

namespace riffle::core {

std::uint64_t estimate_tokens(std::string_view text) noexcept {
  std::uint64_t wide = 0;
  for (const char c : text) wide += static_cast<unsigned char>(c) >> 7;
  return (text.size() + wide + 3) / 4;
}

}  // namespace riffle::core
