// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// What a journal knows of a run when a unit comes.
struct run_facts {
  const std::string& session;  ///< must outlive this
  std::uint64_t ordinal = 0;
  std::uint64_t last_seq = 0;
};

/// Why the unit must not be stored, or nothing: its block must go on exactly
/// where the log ends and hold one whole line for each number; its changes
/// must be of its own run.
std::optional<std::string> find_fault(const commit_unit& unit,
                                      const run_facts& run);

/// Cuts off the lines up to `after_seq`; the block must reach beyond it.
event_block cut_front(const event_block& block, std::uint64_t after_seq);

/// About how much memory the unit takes while it waits.
std::size_t weight(const commit_unit& unit);

}  // namespace riffle::storage
