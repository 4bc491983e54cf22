// SPDX-License-Identifier: MIT
#pragma once

// Which tools are out of service in which process, for other processes to
// read: a file for each process that has any, locked (flock) while it lives.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "messages/time.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle::storage {

struct tool_outage {
  std::string tool;
  std::string why;
  wall_time since;
  int process = 0;  ///< its id, for people

  bool operator==(const tool_outage&) const = default;
};

/// This process's part. Makes its file at the first outage and removes it at
/// the end. What cannot be written is logged: an outage matters more to those
/// who have it. Thread-safe.
class health_registry {
 public:
  /// `folder` is made when it is needed.
  explicit health_registry(std::filesystem::path folder);
  ~health_registry();
  health_registry(const health_registry&) = delete;
  health_registry& operator=(const health_registry&) = delete;

  /// `why` empty: the tool is in service again. Does not block.
  void note(const std::string& tool, const std::string& why);
  /// Writes what was noted.
  void publish();

 private:
  bool make_file();

  std::mutex mutex_;
  std::filesystem::path folder_;
  std::filesystem::path file_;
  unique_fd fd_;
  std::map<std::string, tool_outage> outages_;
};

/// The outages of all living processes, by tool. Removes what dead ones left.
std::vector<tool_outage> read_outages(const std::filesystem::path& folder);

}  // namespace riffle::storage
