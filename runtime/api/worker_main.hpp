// SPDX-License-Identifier: MIT
#pragma once

// For `main` of a program that uses the library: it may be started once more,
// as the guard of a tool's processes, or to run a tool with `isolation =
// "process"`.

#include <functional>
#include <vector>

#include "tools/tool.hpp"

namespace riffle {

/// Makes the tools that the program gives its runtimes (`runtime_options`).
using tool_factory = std::function<std::vector<tools::tool_ptr>()>;

/// The first statement of `main`. When this process was started as a guard or
/// as a worker it does that work and gives back the exit status, to be returned
/// from `main` at once; otherwise it gives back -1.
///
///     const int child = riffle::worker_main(argc, argv, my_tools);
///     if (child != -1) return child;
///
/// `make` is called in workers only, before the first call. What it makes must
/// not depend on what `main` does later: a worker never gets there. A tool that
/// it does not make cannot be isolated: its calls fail with `invalid_config`.
int worker_main(int argc, char** argv, const tool_factory& make = {});

}  // namespace riffle
