// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>

#include <tl/expected.hpp>

namespace riffle {

/// How much of a file is read, and for how long.
struct read_limits {
  std::size_t bytes = std::size_t{1} << 20;
  std::chrono::milliseconds time{5000};
};

/// A whole file that somebody named: also a pipe (`<(…)`, /dev/stdin), but
/// none that never speaks. The error says what is wrong and goes behind the
/// file's name: "is a folder, not a file". Blocks at most `limits.time`.
tl::expected<std::string, std::string> read_within(
    const std::filesystem::path& file, const read_limits& limits = {});

}  // namespace riffle
