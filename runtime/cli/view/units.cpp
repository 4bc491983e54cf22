// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>

#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

template <class... T>
std::string format(const char* pattern, T... x) {
  std::array<char, 64> out{};
  const int n = std::snprintf(out.data(), out.size(), pattern, x...);
  return {out.data(), n < 0 ? 0 : static_cast<std::size_t>(n)};
}

}  // namespace

std::string duration_text(std::uint64_t ms) {
  const auto tenths = (ms + 50) / 100;
  if (tenths < 600) {
    return format("%llu.%llus", static_cast<unsigned long long>(tenths / 10),
                  static_cast<unsigned long long>(tenths % 10));
  }
  const auto seconds = (ms + 500) / 1000;
  const auto minutes = seconds / 60;
  if (minutes < 60) {
    return format("%llum %02llus", static_cast<unsigned long long>(minutes),
                  static_cast<unsigned long long>(seconds % 60));
  }
  return format("%lluh %02llum", static_cast<unsigned long long>(minutes / 60),
                static_cast<unsigned long long>(minutes % 60));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) {
    return format("%llu B", static_cast<unsigned long long>(bytes));
  }
  constexpr std::array units = {"KB", "MB", "GB", "TB", "PB", "EB"};
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1023.95 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  return format(size < 9.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

std::string count_text(std::uint64_t n) {
  if (n < 1000) return std::to_string(n);
  constexpr std::array units = {"k", "M", "G", "T", "P", "E"};
  auto size = static_cast<double>(n) / 1000;
  std::size_t unit = 0;
  while (size >= 999.5 && unit + 1 < units.size()) {
    size /= 1000;
    ++unit;
  }
  return format(size < 9.95 ? "%.1f%s" : "%.0f%s", size, units[unit]);
}

}  // namespace riffle::cli
