// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <dirent.h>
#include <filesystem>
#include <memory>

namespace riffle {

struct close_dir {
  void operator()(DIR* x) const noexcept { ::closedir(x); }
};
using unique_dir = std::unique_ptr<DIR, close_dir>;

/// Whether it is that folder or lies somewhere in it, as both are written.
inline bool is_within(const std::filesystem::path& file,
                      const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

}  // namespace riffle
