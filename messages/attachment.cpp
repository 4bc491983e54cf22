// SPDX-License-Identifier: MIT
#include "messages/attachment.hpp"

#include <array>
#include <cstdio>

namespace riffle {

namespace {

std::string size_of(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  const bool kilo = bytes < (1u << 20);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s",
                static_cast<double>(bytes) / (kilo ? 1024.0 : 1048576.0),
                kilo ? "KiB" : "MiB");
  return text.data();
}

}  // namespace

std::string describe(const attachment& x) {
  return x.name + " (" + x.type + ", " + size_of(x.bytes) + ")";
}

}  // namespace riffle
