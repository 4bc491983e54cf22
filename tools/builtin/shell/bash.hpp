// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/process/pid_space.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct bash_options {
  /// Names of environment variables that commands do not see (API keys).
  std::vector<std::string> hidden_env;
  /// The program that is started as guard; see `process_request`.
  std::string guard_program = "/proc/self/exe";
  pid_space space = pid_space::automatic;
  /// Commands that surely read (core/read_command.hpp); none: no such calls.
  std::vector<std::string> read_only;
};

/// For what has no terminal: git, which would wait for an editor that nobody
/// sees, says what to do instead. Who set its editor means that.
std::vector<std::string> without_editors(std::vector<std::string> environment);
/// What it says first.
inline constexpr std::string_view no_editor =
    "There is no terminal for an editor here.";

/// The tool `bash`. Reads the environment now, not at each call.
tool_ptr make_bash(bash_options options);

}  // namespace riffle::tools
