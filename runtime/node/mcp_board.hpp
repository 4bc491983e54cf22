// SPDX-License-Identifier: MIT
#pragma once

// How the MCP servers of a process are, for other processes of its data folder
// to read.

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/executor.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/process_board.hpp"
#include "tools/mcp/server_view.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle {

/// Writes what the servers of this process are, each time that it changes, once
/// one of them is used. What cannot be written is logged once. Thread-safe.
class mcp_board : public std::enable_shared_from_this<mcp_board> {
 public:
  mcp_board(std::filesystem::path folder, std::shared_ptr<executor> where);

  /// Whose they are; before this nothing is written.
  void watch(const std::shared_ptr<const mcp::servers>& all);
  /// Something has changed. Does not block.
  void note();

 private:
  void write();

  const std::shared_ptr<executor> where_;
  std::atomic<bool> noted_ = false;
  std::mutex mutex_;
  std::weak_ptr<const mcp::servers> servers_;
  storage::process_board board_;
  bool failed_ = false;
};

/// Where boards are; empty: there is no data folder.
std::filesystem::path mcp_boards(const config::config& config);

/// The servers of other processes that use the same data folder, which are
/// those of this configuration and are used there: by name, then by process.
std::vector<mcp::server_view> used_elsewhere(const config::config& config);

}  // namespace riffle
