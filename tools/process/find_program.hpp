// SPDX-License-Identifier: MIT
#pragma once

// Programs by their names, as $PATH has them.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace riffle::tools {

/// The folders that the value of $PATH names, in order; an empty or a relative
/// one is meant from where a program is started.
inline std::vector<std::string> path_folders(std::string_view path) {
  std::vector<std::string> out;
  for (;;) {
    const auto end = std::min(path.find(':'), path.size());
    out.emplace_back(path.substr(0, end));
    if (end == path.size()) return out;
    path.remove_prefix(end + 1);
  }
}

/// Those of this process; where it has none, those of the system.
inline std::vector<std::string> path_folders() {
  const char* path = std::getenv("PATH");
  return path_folders(path != nullptr ? path : "/usr/bin:/bin");
}

/// A file that may be executed.
inline bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) &&
         ::access(file.c_str(), X_OK) == 0;
}

/// The program that `execvp` starts in that folder; empty: there is none.
inline std::filesystem::path find_program(const std::string& name,
                                          const std::filesystem::path& folder) {
  if (name.find('/') != std::string::npos) return folder / name;
  for (const auto& part : path_folders()) {
    auto file = folder / part / name;
    if (is_program(file)) return file;
  }
  return {};
}

}  // namespace riffle::tools
