// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "tools/mcp/link.hpp"
#include "tools/process/pid_space.hpp"

namespace riffle::mcp {

struct stdio_options {
  std::string name{};                      ///< of the server, for the log
  std::vector<std::string> command{};      ///< the first is looked up in PATH
  std::filesystem::path folder{};          ///< where it runs, absolute
  std::vector<std::string> environment{};  ///< "NAME=value", all of it
  /// Locked as long as any process of the server lives; empty: none.
  std::filesystem::path lock{};
  identity me{};
  /// From the end of its input to SIGTERM, and from there to SIGKILL.
  duration grace = std::chrono::milliseconds{500};
  std::string guard_program = "/proc/self/exe";
  tools::pid_space space = tools::pid_space::automatic;
};

/// Starts the program under a guard and speaks to it by lines. What it writes
/// to standard error goes to the log, limited. With the link, or the runtime,
/// all of its processes end. That it cannot be started is told as `on_broken`.
link_ptr open_stdio(stdio_options options, link_events events);

}  // namespace riffle::mcp
