// SPDX-License-Identifier: MIT
#pragma once

// The programs that a shell finds by their names.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace riffle::tools {

/// The folders of PATH, without links.
class program_folders {
 public:
  program_folders();

  /// Whether it is one of the folders, or right beneath one.
  [[nodiscard]] bool has(const std::filesystem::path& x) const;

  /// Programs that are the same file as this one, which is elsewhere: it is a
  /// hard link to them.
  std::vector<std::string> other_names(const std::filesystem::path& x);

 private:
  using file_id = std::pair<std::uint64_t, std::uint64_t>;

  static std::optional<file_id> linked_file(const std::filesystem::path& x);

  std::vector<std::filesystem::path> folders_;
  bool listed_ = false;
  std::multimap<file_id, std::string> linked_;  ///< those with more names
};

}  // namespace riffle::tools
