// SPDX-License-Identifier: MIT
#pragma once

// What a server that was told to let its runs finish waits for.

#include <chrono>
#include <cstddef>

#include "runtime/http/site.hpp"

namespace riffle::cli {

/// Runs that this process works on. Blocks.
std::size_t runs_here(const service::sessions& sessions);

/// Until nothing runs but what waits for a person, or then. Blocks.
void let_finish(http::site& site, std::chrono::steady_clock::time_point until);

/// Runs that nobody takes up again: each is cancelled, and its client is
/// answered. Blocks until that is on record, for some seconds at most.
void end_waited_for(http::site& site);

}  // namespace riffle::cli
