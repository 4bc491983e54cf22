// SPDX-License-Identifier: MIT
#pragma once

#include "tools/process/worker_process.hpp"

namespace riffle::testing {

/// What a test program that is started as a worker makes its tool with. A
/// test's file sets it when the program starts.
tools::tool_maker& worker_tools();

}  // namespace riffle::testing
