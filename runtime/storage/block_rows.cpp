// SPDX-License-Identifier: MIT
#include "runtime/storage/block_rows.hpp"

#include <bit>
#include <utility>

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/varint.hpp"

namespace riffle::storage {

namespace {

std::uint32_t crc_of_shares(std::int64_t key, std::string_view shares) {
  return row_crc{}
      .add("commits")
      .add(static_cast<std::uint64_t>(key))
      .add(shares)
      .value();
}

}  // namespace

std::string to_text(std::int64_t key, const std::vector<commit_share>& all) {
  std::string shares;
  std::uint64_t before = 0;
  for (const auto& x : all) {
    put_varint(shares, x.commit - before);
    put_varint(shares, x.events);
    before = x.commit;
  }
  std::string out;
  put_varint(out, crc_of_shares(key, shares));
  return out += shares;
}

std::vector<commit_share> shares_of(std::int64_t key, std::string_view text,
                                    std::string_view whose) {
  std::vector<commit_share> all;
  if (text.empty()) return all;
  const auto bad = [&] {
    return damaged{std::string{whose}, "the commits of a block are damaged"};
  };
  const auto crc = take_varint(text);
  if (crc != crc_of_shares(key, text)) throw bad();
  std::uint64_t before = 0;
  while (!text.empty()) {
    const auto step = take_varint(text);
    const auto events = take_varint(text);
    if (!step || !events) throw bad();
    before += *step;
    all.push_back({before, *events});
  }
  return all;
}

std::uint64_t feed_place_of(const std::vector<commit_share>& commits) noexcept {
  const auto first = commits.front().commit;
  const auto width = commits.back().commit - first;
  return feed_place_of(1 + static_cast<std::uint64_t>(std::bit_width(width)),
                       first);
}

std::uint32_t crc_of_feed(std::uint64_t place, std::int64_t key) {
  return row_crc{}
      .add("feed")
      .add(place)
      .add(static_cast<std::uint64_t>(key))
      .value();
}

block_writer::block_writer(sqlite::database& db)
    : db_{db},
      // What stands in the place is damaged: nothing else has this key.
      insert_{db,
              "REPLACE INTO blocks(key, last_seq, crc, lines, commits) "
              "VALUES(?, ?, ?, ?, ?)"},
      add_to_feed_{db, "REPLACE INTO feed(last, key, crc) VALUES(?, ?, ?)"},
      commits_{db, "SELECT key, commits FROM blocks WHERE key BETWEEN ? AND ?"},
      delete_from_feed_{db, "DELETE FROM feed WHERE last = ? AND key = ?"},
      delete_all_from_feed_{db, "DELETE FROM feed WHERE key BETWEEN ? AND ?"},
      put_head_{db,
                "REPLACE INTO heads(n, last_seq, messages, calls, crc) "
                "VALUES(?, ?, ?, ?, ?)"},
      delete_{db, "DELETE FROM blocks WHERE key BETWEEN ? AND ?"},
      delete_head_{db, "DELETE FROM heads WHERE n = ?"} {}

void block_writer::add(const block_row& x) {
  const auto key = block_key(x.run, x.first_seq);
  auto crc = crc_of_block(key, x.last_seq, x.lines);
  if (x.is_damaged) crc ^= 1;
  const auto commits = to_text(key, x.commits);
  insert_.run(key, x.last_seq, crc, sqlite::blob{x.lines},
              sqlite::blob{commits});
  if (x.commits.empty()) return;
  const auto place = feed_place_of(x.commits);
  add_to_feed_.run(place, key, crc_of_feed(place, key));
}

void block_writer::put_head(std::int64_t run, const head_row& x) {
  put_head_.run(run, x.last_seq, x.messages, x.calls, crc_of(run, x));
}

bool block_writer::remove_from_feed(std::int64_t run) {
  bool is_whole = true;
  std::size_t blocks = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> gone;
  {
    auto found = commits_.query(block_key(run, 0), block_key(run + 1, 0) - 1);
    while (found.next()) {
      try {
        const auto shares =
            shares_of(found.integer(0), found.bytes(1), "the database");
        if (shares.empty()) continue;
        ++blocks;
        gone.emplace_back(feed_place_of(shares), found.integer(0));
        gone.emplace_back(shares.back().commit, found.integer(0));  // class 0
      } catch (const damaged&) {
        is_whole = false;
      }
    }
  }
  std::size_t removed = 0;
  for (const auto& [place, key] : gone) {
    delete_from_feed_.run(place, key);
    removed += static_cast<std::size_t>(sqlite3_changes64(db_.get()));
  }
  return is_whole && removed == blocks;
}

void block_writer::remove(std::int64_t run, bool all) {
  const auto from = block_key(run, 0);
  const auto to = block_key(run + 1, 0) - 1;
  if (!remove_from_feed(run) || all) delete_all_from_feed_.run(from, to);
  delete_.run(from, to);
  delete_head_.run(run);
}

}  // namespace riffle::storage
