// SPDX-License-Identifier: MIT
#pragma once

// The key that every program of a test has in its environment, and that nothing
// which is written may hold.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::testing {

inline constexpr std::string_view provider_key =
    "sk-canary-4e7f0b52d9c1a863-of-every-program";

/// A begin of it is as bad; also in hexadecimal, and in base64 at any offset.
bool holds_provider_key(std::string_view text);

/// The files below a folder that hold it; links are not followed.
std::vector<std::string> files_with_provider_key(
    const std::filesystem::path& folder);

}  // namespace riffle::testing
