// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/storage/rows.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Which commits brought the events of a row of `blocks`: where these stand in
/// the order over all runs.
struct commit_share {
  std::uint64_t commit = 0;
  std::uint64_t events = 0;

  bool operator==(const commit_share&) const = default;
};

/// The text of the column `commits` of the row with this key; it has a
/// checksum of its own, so that the rest of the row is as in version 4.
std::string to_text(std::int64_t key, const std::vector<commit_share>& all);
/// Throws `damaged`. A row of version 4 or older has none.
std::vector<commit_share> shares_of(std::int64_t key, std::string_view text,
                                    std::string_view whose);

/// Lines of a run that become a row of its own.
struct block_row {
  std::int64_t run = 0;  ///< its number
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::string_view lines;
  std::vector<commit_share> commits;
  /// They failed their checksum where they were; so they will here.
  bool is_damaged = false;
};

/// Where a block stands in `feed`, so that those with events of some commits
/// are found without a look at others: by a class, which is how far apart the
/// first and the last commit of a block are at most, and within it by the first
/// one. Blocks that a file got before version 8 stand in class 0, by the last
/// one.
inline constexpr std::uint64_t feed_classes = 32;
inline constexpr int feed_class_bits = 48;

constexpr std::uint64_t feed_place_of(std::uint64_t cls,
                                      std::uint64_t commit) noexcept {
  return (cls << feed_class_bits) | commit;
}
/// Most commits between the first and the last one of a block of the class.
constexpr std::uint64_t feed_width(std::uint64_t cls) noexcept {
  return (std::uint64_t{1} << (cls - 1)) - 1;
}
std::uint64_t feed_place_of(const std::vector<commit_share>& commits) noexcept;

std::uint32_t crc_of_feed(std::uint64_t place, std::int64_t key);

/// Writes rows of `blocks`, `feed` and `heads` over one connection. Throws
/// `sqlite::failure`.
class block_writer {
 public:
  explicit block_writer(sqlite::database& db);

  void add(const block_row& x);
  void put_head(std::int64_t run, const head_row& x);
  /// Removes the rows of a run. `all`: also what no row of `blocks` leads to,
  /// for one that is damaged; a walk over all of `feed`.
  void remove(std::int64_t run, bool all);

 private:
  /// False: there may be more of it.
  bool remove_from_feed(std::int64_t run);

  sqlite::database& db_;
  sqlite::statement insert_;
  sqlite::statement add_to_feed_;
  sqlite::statement commits_;
  sqlite::statement delete_from_feed_;
  sqlite::statement delete_all_from_feed_;
  sqlite::statement put_head_;
  sqlite::statement delete_;
  sqlite::statement delete_head_;
};

}  // namespace riffle::storage
