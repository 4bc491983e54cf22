// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/storage/block_rows.hpp"
#include "runtime/storage/commit_log.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// What damage to the log of commits has cost.
struct log_loss {
  std::string problem;  ///< see `log_check::problem`
  /// Ids of runs whose last commit may be lost: they cannot go on.
  std::vector<std::string> runs;
};

/// For people.
std::string to_text(const log_loss& x);

/// Moves what the log of commits holds into rows of the runs, all of it, in
/// the transaction of its caller: a run's lines in large pieces, its head
/// beside them. Lines that fail their checksum are moved as they are, and fail
/// it still. A row that is lost or whose directory is damaged is passed over:
/// a run that has not ended, nor a later row, gets `lost_head`. Throws
/// `sqlite::failure`.
class log_mover {
 public:
  using heads = std::map<std::int64_t, head_row>;

  explicit log_mover(sqlite::database& db);

  /// What belongs to the runs in `dropped` (their numbers) is not moved.
  /// `own`: heads that are known without the log, by numbers of runs.
  std::optional<log_loss> move(log_writer& log, block_writer& to,
                               const std::set<std::int64_t>& dropped,
                               const std::function<heads()>& own);

 private:
  struct found_rows;

  void collect_all(found_rows& found, const std::set<std::int64_t>& dropped);
  log_loss put_heads(const found_rows& found, block_writer& to,
                     const std::set<std::int64_t>& dropped, const heads& own);

  sqlite::database& db_;
  sqlite::statement rows_;
  sqlite::statement active_;
};

}  // namespace riffle::storage
