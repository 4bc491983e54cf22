// SPDX-License-Identifier: MIT
#pragma once

// A file layer of SQLite that kills the process, or fails, at one operation.
// Only for test programs.

#include <cstdint>

namespace riffle::testing {

/// Makes the layer SQLite's default if one of its variables is set; call it
/// before the first database is opened. Counted over the process, from 1:
/// every write, sync, truncation, deletion and mapping of shared memory.
///
/// RIFFLE_TEST_KILL_AT=N     SIGKILL before operation N …
/// RIFFLE_TEST_KILL_AFTER=1  … or after it
/// RIFFLE_TEST_KILL_TORN=1   … or, if it is a write, after half of its bytes
/// RIFFLE_TEST_FAIL_AT=N     operation N and all later ones fail …
/// RIFFLE_TEST_FAIL_WHILE=F  operations fail as long as the file F is there …
/// RIFFLE_TEST_FAIL=ENOSPC   … like this (or EIO, the default)
/// RIFFLE_TEST_COUNT_FILE=F  the number of operations is written to F at a
///                           normal exit
void install_crash_vfs();

/// The same without variables: operation `at` (0: none) and later ones fail
/// with an SQLite result code. Starts the count again. Installs the layer.
void fail_storage_at(std::uint64_t at, int code);

/// Operations so far.
std::uint64_t storage_operations();

/// Read `at` (0: none) and later ones fail as those of a disk that fails. Reads
/// are no operations; counted from here on. Installs the layer.
void fail_reads_at(std::uint64_t at);

/// Reads so far.
std::uint64_t storage_reads();

struct sync_counts {
  std::uint64_t of_log = 0;  ///< syncs of write-ahead logs
  /// Writes into main files while a write-ahead log had more than was synced.
  std::uint64_t early_writes = 0;
};

/// Begins to count them. Installs the layer.
void watch_syncs();
sync_counts storage_syncs();

}  // namespace riffle::testing
