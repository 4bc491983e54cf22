// SPDX-License-Identifier: MIT
#pragma once

// Any program as a tool. What it has to do, README.md says.

#include <string>
#include <vector>

#include "messages/error.hpp"
#include "tools/process/pid_space.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct command_options {
  std::string name;
  std::string description;
  std::string parameters;  ///< JSON Schema
  effect eff = effect::mutating;
  bool idempotent = false;
  /// The program and its first arguments; looked up in PATH, unless a folder
  /// stands before the name (relative to `folder`).
  std::vector<std::string> command;
  std::filesystem::path folder;  ///< where it runs, absolute
  /// Names of variables that it sees beside PATH, HOME and LANG.
  std::vector<std::string> env;
  /// JSON pointers into the arguments: what a call touches.
  std::vector<std::string> keys;
  /// What a person reads; `{x}` is the argument x. Empty: the name.
  std::string title;
  /// The program that is started as guard; see `process_request`.
  std::string guard_program = "/proc/self/exe";
  pid_space space = pid_space::automatic;
};

/// A tool whose calls run the command under a guard, each in processes of its
/// own: the arguments as one JSON object on stdin, the result on stdout,
/// progress on stderr. The environment is read now, not at each call.
tool_ptr make_command_tool(command_options options);

}  // namespace riffle::tools
