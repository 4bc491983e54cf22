// SPDX-License-Identifier: MIT
#pragma once

// The child's side of an isolated tool: the same program, started with another
// first argument, that runs the calls of one tool. See README.md.

#include <functional>
#include <string>

#include "messages/error.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// Makes the tool with this name from the configuration that the runtime sent.
using tool_maker = std::function<expected<tool_ptr>(
    const std::string& configuration, const std::string& name)>;

/// Behind `run_guard_if_asked` in `main`: runs the calls and gives back the
/// exit status when this process was started as a worker; otherwise gives back
/// -1, and from then on this program may be started as one.
int run_worker_if_asked(int argc, char** argv, const tool_maker& make);

/// Whether `run_worker_if_asked` was called.
bool can_be_worker() noexcept;

inline constexpr const char* worker_argument = "--riffle-worker";

}  // namespace riffle::tools
