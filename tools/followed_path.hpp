// SPDX-License-Identifier: MIT
#pragma once

// Where a path leads, one link after another.

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace riffle::tools {

struct followed_path {
  enum class how : std::uint8_t {
    there,    ///< something is there now
    missing,  ///< nothing is there, yet
    nowhere,  ///< links go round in circles
    unknown   ///< it changes with who looks, or may not be looked at
  };
  std::filesystem::path real;
  how ends = how::there;
  std::size_t looks = 0;  ///< at the file system
};

/// From a folder without links. What is in /proc is unknown, save the files
/// right beneath it (`/proc/cpuinfo`): links there lead each program elsewhere.
/// The streams of a program (`/dev/stdin`, `/dev/fd/3`) are there if the path
/// says so; a link to them is unknown.
followed_path follow_path(const std::filesystem::path& from,
                          const std::filesystem::path& path);

}  // namespace riffle::tools
