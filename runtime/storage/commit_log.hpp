// SPDX-License-Identifier: MIT
#pragma once

// The log of commits: one appended row for each commit, with the lines of all
// its runs and a directory of them. Its rows are moved into rows of the runs
// by and by (log_mover.hpp). README.md says why.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/storage/rows.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Which rows the log has: commits `first` to `last`, none if `first` is
/// `last` + 1. Numbers of commits are never used again.
struct log_extent {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  std::uint64_t bytes = 0;  ///< of lines and directories
};

/// What a commit holds of a run, an entry of its directory.
struct log_entry {
  std::int64_t run = 0;  ///< its number
  head_row head{};       ///< what it has after the commit
  /// Bytes of its lines in the row, the last of them `head.last_seq`. 0: it
  /// has none, or they are rows of its own.
  std::uint64_t size = 0;
  std::uint64_t first_seq = 0;
  std::uint32_t crc = 0;  ///< of the lines: `crc_of_block`
};

void put(std::string& directory, const log_entry& x);
/// Takes an entry off the front. Throws `damaged` if there is no whole one.
log_entry take_entry(std::string_view& directory, std::string_view whose);

std::uint32_t crc_of(const log_extent& x);
std::uint32_t crc_of_directory(std::uint64_t commit,
                               std::string_view directory);

/// A number behind which no commit is, by the rows of runs in `feed`: where the
/// log cannot say it.
std::uint64_t last_moved_commit(sqlite::database& db);

/// What is lost or damaged, as rows of the log come in their order. Whether a
/// lost row had something of a run cannot be said, unless the run has a later
/// one: heads count what was before.
class log_check {
 public:
  /// Before the row behind `known`; nothing: the extent is lost or damaged.
  void begin(const std::optional<log_extent>& extent, std::uint64_t known);
  /// False: it is not to be used.
  bool on_row(std::uint64_t n, bool is_whole);
  /// There is no other; `is_cut`: none that can be read.
  void on_end(bool is_cut);
  /// From now on the extent is not believed.
  void distrust(const std::string& why);

  /// What is wrong, goes on after "the log of commits"; empty: nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// Commits up to this one may be lost; 0: none is.
  [[nodiscard]] std::uint64_t last_bad() const noexcept { return last_bad_; }
  /// Whether all rows are within what the extent says.
  [[nodiscard]] bool has_end() const noexcept { return has_end_; }

 private:
  void note(std::uint64_t commit, const std::string& what);

  std::optional<log_extent> extent_;
  std::uint64_t at_ = 0;
  std::uint64_t last_bad_ = 0;
  bool has_end_ = true;
  std::string problem_;
};

/// Whether the directory is as it was written.
bool is_whole_row(std::uint64_t n, std::string_view directory,
                  std::uint64_t crc);

/// Reads the log over one connection, and remembers where the lines of runs
/// are. Wants the same transaction around calls that belong together. What is
/// damaged is passed over, see `problem`. Throws `sqlite::failure`.
class log_reader {
 public:
  /// Lines of a run in a row of the log.
  struct part {
    std::uint64_t commit = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    std::uint32_t crc = 0;
  };

  /// Events of a run that a commit brought.
  struct event_range {
    std::uint64_t commit = 0;
    std::int64_t run = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
  };

  explicit log_reader(sqlite::database& db);

  /// Nothing: it is lost or damaged.
  std::optional<log_extent> extent();
  /// Learns what was committed and moved since the last call. Costs what is
  /// new.
  void refresh();
  /// The rows as of `refresh`, without their bytes; where the extent cannot be
  /// believed, none, behind all that is known.
  [[nodiscard]] log_extent known() const noexcept;
  /// See `log_check::problem`. As of `refresh`.
  [[nodiscard]] const std::string& problem() const noexcept {
    return check_.problem();
  }
  /// The last that the log has of a run; null: nothing. As of `refresh`.
  [[nodiscard]] const head_row* head(std::int64_t run) const;
  /// Whether the last of an active run may be lost. As of `refresh`.
  [[nodiscard]] bool is_suspect(std::int64_t run) const;
  /// Where event `seq` of a run is; null: not in the log. As of `refresh`.
  [[nodiscard]] const part* find(std::int64_t run, std::uint64_t seq) const;
  /// Calls `f(part)` for all that the log has of a run. As of `refresh`.
  template <class F>
  void for_each_part(std::int64_t run, F f) const {
    const auto i = runs_.find(run);
    if (i == runs_.end()) return;
    for (const auto& x : i->second.parts) f(x);
  }
  /// Calls `f(event_range)` for what commits `from` to `to` brought, in their
  /// order. Costs what it finds. As of `refresh`.
  template <class F>
  void for_each_range(std::uint64_t from, std::uint64_t to, F f) const {
    auto i = std::ranges::lower_bound(order_, from, {}, &event_range::commit);
    for (; i != order_.end() && i->commit <= to; ++i) f(*i);
  }
  /// The lines of a part. Throws `damaged` in the name of `whose`.
  std::string lines(std::int64_t run, const part& x, const std::string& whose);

 private:
  struct known_run {
    head_row head;
    std::uint64_t commit = 0;  ///< that has it
    std::vector<part> parts;   ///< in order
  };

  void forget(std::uint64_t first);
  void learn_all();
  void learn_rows(std::uint64_t known);
  void learn(std::uint64_t commit, std::string_view directory);

  sqlite::database& db_;
  sqlite::statement extent_;
  sqlite::statement directories_;
  sqlite::statement lines_;
  std::unordered_map<std::int64_t, known_run> runs_;
  std::vector<event_range> order_;
  log_check check_;
  std::uint64_t first_ = 0;  ///< rows that are known: `first_` to `last_`
  std::uint64_t last_ = 0;
};

/// Appends rows, within a transaction of its caller.
class log_writer {
 public:
  explicit log_writer(sqlite::database& db);

  /// Begins the row of the next commit. False: it cannot be said which one that
  /// is; then the log has to be moved first (`log_mover`).
  bool begin();
  /// The number of the commit that was begun.
  [[nodiscard]] std::uint64_t commit() const noexcept {
    return extent_.last + 1;
  }
  /// Adds a run; `lines` are those that are to lie in this row.
  void add(log_entry x, std::string_view lines);
  /// Writes the row.
  void end();
  /// As of the last call.
  [[nodiscard]] const log_extent& extent() const noexcept { return extent_; }
  /// How many rows that is.
  [[nodiscard]] std::uint64_t rows() const noexcept {
    return extent_.last + 1 - extent_.first;
  }
  /// The rows go from the log: its next commit, the one behind `last`, is the
  /// first one.
  void clear(std::uint64_t last);

 private:
  log_reader reader_;
  sqlite::statement append_;
  sqlite::statement set_extent_;
  sqlite::statement renew_extent_;
  sqlite::statement delete_all_;
  log_extent extent_;
  std::string directory_;
  std::string lines_;
};

}  // namespace riffle::storage
