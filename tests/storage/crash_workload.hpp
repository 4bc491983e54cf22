// SPDX-License-Identifier: MIT
#pragma once

// What the killed child stores, as a pure function, so that the parent can
// say what any prefix of it must look like.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/storage/journal.hpp"

namespace riffle::testing {

inline constexpr std::size_t workload_units = 40;

/// The runs of the workload.
std::vector<std::string> workload_runs();

/// Unit `k` of a run, from 1; the last one ends the run.
storage::commit_unit workload_unit(const std::string& run, std::size_t k);

/// The call whose intent unit `k` stores, or an empty text.
std::string workload_intent(const std::string& run, std::size_t k);

/// How many units reach up to `last_seq`; more than there are if it is not
/// the end of one.
std::size_t units_up_to(const std::string& run, std::uint64_t last_seq);

/// Compares what a journal knows of a run with its first `units` units stored
/// in memory. Returns the differences, empty if none.
std::string compare_with_prefix(storage::journal& found, const std::string& run,
                                std::size_t units);

}  // namespace riffle::testing
