// SPDX-License-Identifier: MIT
#pragma once

// What is said first of a run that goes on behind a crash. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/storage/records.hpp"

namespace riffle::cli {

/// The calls of a run that were under way when its process ended, and that do
/// not run again: they may have acted.
std::vector<const storage::call_record*> cut_calls(
    const storage::session_snapshot& x, const run_id& run);

/// Their names, a line each; of many the first. Empty: there are none.
std::string cut_calls_text(const std::vector<std::string>& names,
                           std::size_t columns);

}  // namespace riffle::cli
