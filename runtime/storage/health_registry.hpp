// SPDX-License-Identifier: MIT
#pragma once

// Which tools are out of service in which process, for other processes to
// read.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "messages/time.hpp"
#include "runtime/storage/process_board.hpp"

namespace riffle::storage {

struct tool_outage {
  std::string tool;
  std::string why;
  wall_time since;
  int process = 0;  ///< its id, for people

  bool operator==(const tool_outage&) const = default;
};

/// This process's part, a `process_board` from the first outage on. What cannot
/// be written is logged: an outage matters more to those who have it.
/// Thread-safe.
class health_registry {
 public:
  /// `folder` is made when it is needed.
  explicit health_registry(std::filesystem::path folder);

  /// `why` empty: the tool is in service again. Does not block.
  void note(const std::string& tool, const std::string& why);
  /// Writes what was noted.
  void publish();

 private:
  std::mutex mutex_;
  process_board board_;
  std::map<std::string, tool_outage> outages_;
};

/// The outages of all living processes, by tool. Removes what dead ones left.
std::vector<tool_outage> read_outages(const std::filesystem::path& folder);

}  // namespace riffle::storage
