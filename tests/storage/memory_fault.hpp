// SPDX-License-Identifier: MIT
#pragma once

// Memory that runs out at the k-th allocation of the storage: of SQLite's
// allocator, or of ours (operator new in the storage's threads, and between
// `begin_scope` and `end_scope` in the thread of the test).

#include <cstdint>

namespace riffle::testing {

enum class allocator : std::uint8_t { sqlite, ours };

/// Allocation `at` fails, and with `for_good` all later ones. To be called
/// once in a process, before the first database is opened.
void fail_memory_at(allocator whose, std::uint64_t at, bool for_good);

/// Stops failing.
void stop_failing_memory();

/// Whether an allocation has failed.
bool memory_failed();

void begin_scope();
void end_scope();

}  // namespace riffle::testing
