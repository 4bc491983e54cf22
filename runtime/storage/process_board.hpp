// SPDX-License-Identifier: MIT
#pragma once

// What a process says of itself for other processes to read: a file for each
// one that says something, locked (flock) while it lives.

#include <filesystem>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle::storage {

/// This process's part. Makes its file at the first write and removes it at
/// the end. Not thread-safe.
class process_board {
 public:
  /// Readers take no more of a process.
  static constexpr std::size_t largest = 1u << 20;

  /// `folder` is made when it is needed.
  explicit process_board(std::filesystem::path folder);
  ~process_board();
  process_board(const process_board&) = delete;
  process_board& operator=(const process_board&) = delete;

  /// In the place of what it said before. Whoever reads meanwhile may see a
  /// part of each.
  expected<void> write(const std::string& text);
  [[nodiscard]] bool has_said() const noexcept { return bool{fd_}; }

 private:
  expected<void> make_file();

  std::filesystem::path folder_;
  std::filesystem::path file_;
  unique_fd fd_;
};

/// What all living processes say, a text each. Removes what dead ones left.
std::vector<std::string> read_boards(const std::filesystem::path& folder);

}  // namespace riffle::storage
