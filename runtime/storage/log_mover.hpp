// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>

#include "runtime/storage/block_rows.hpp"
#include "runtime/storage/commit_log.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Moves what the log of commits holds into rows of the runs, all of it, in
/// the transaction of its caller: a run's lines in large pieces, its head
/// beside them. Lines that fail their checksum are moved as they are, and fail
/// it still. Throws `damaged` if a directory is damaged or a row is lost.
class log_mover {
 public:
  explicit log_mover(sqlite::database& db);

  /// What belongs to the runs in `dropped` (their numbers) is not moved.
  void move(log_writer& log, block_writer& to,
            const std::set<std::int64_t>& dropped);

 private:
  sqlite::statement rows_;
};

}  // namespace riffle::storage
