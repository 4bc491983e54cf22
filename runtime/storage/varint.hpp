// SPDX-License-Identifier: MIT
#pragma once

// Numbers as one to ten bytes, seven bits each, the lowest first.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace riffle::storage {

inline void put_varint(std::string& to, std::uint64_t x) {
  for (; x >= 0x80; x >>= 7) to.push_back(static_cast<char>(x | 0x80));
  to.push_back(static_cast<char>(x));
}

/// Takes a number off the front; nothing if there is no whole one.
inline std::optional<std::uint64_t> take_varint(std::string_view& from) {
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < from.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    x |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      return x;
    }
  }
  return std::nullopt;
}

}  // namespace riffle::storage
