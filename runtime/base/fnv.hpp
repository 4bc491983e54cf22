// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace riffle {

/// FNV-1a of 64 bits, of pieces one after another: tells texts apart that
/// nobody forges.
constexpr std::uint64_t fnv1a(
    std::string_view bytes,
    std::uint64_t so_far = 0xcbf29ce484222325U) noexcept {
  for (const char c : bytes)
    so_far = (so_far ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return so_far;
}

}  // namespace riffle
