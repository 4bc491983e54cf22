// SPDX-License-Identifier: MIT
#include "runtime/storage/log_mover.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace riffle::storage {

namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

/// Neighbouring lines of a run.
struct piece {
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::string lines;
  std::vector<commit_share> shares;
  bool is_damaged = false;
};

struct moved_run {
  head_row head;
  std::vector<piece> pieces;
};

/// The lines of a row of the log; what is not there is left out.
std::string_view cut(std::string_view lines, std::uint64_t at,
                     std::uint64_t size) {
  return at < lines.size() ? lines.substr(at, size) : std::string_view{};
}

void collect(moved_run& run, const log_entry& x, std::uint64_t commit,
             std::string_view lines) {
  run.head = x.head;
  if (x.size == 0) return;
  const bool bad = crc_of_block(block_key(x.run, x.first_seq), x.head.last_seq,
                                lines) != x.crc;
  auto* last = run.pieces.empty() ? nullptr : &run.pieces.back();
  if (last == nullptr || bad || last->is_damaged ||
      last->last_seq + 1 != x.first_seq ||
      last->lines.size() + lines.size() > piece_bytes) {
    run.pieces.push_back({x.first_seq, 0, {}, {}, bad});
    last = &run.pieces.back();
  }
  last->last_seq = x.head.last_seq;
  last->lines += lines;
  last->shares.push_back({commit, x.head.last_seq - x.first_seq + 1});
}

}  // namespace

log_mover::log_mover(sqlite::database& db)
    : rows_{db, "SELECT n, crc, directory, lines FROM commits ORDER BY n"} {}

void log_mover::move(log_writer& log, block_writer& to,
                     const std::set<std::int64_t>& dropped) {
  static const std::string whose = "the database";
  log.begin();
  if (log.rows() == 0) return;
  std::map<std::int64_t, moved_run> runs;
  auto at = log.extent().first;
  {
    auto found = rows_.query();
    for (; found.next(); ++at) {
      auto directory = found.bytes(2);
      if (found.number(0) != at || at > log.extent().last ||
          crc_of_directory(at, directory) != found.number(1))
        throw damaged{whose, "row " + std::to_string(at) +
                                 " of the log of commits is lost or fails "
                                 "its checksum"};
      const auto lines = found.bytes(3);
      std::uint64_t offset = 0;
      while (!directory.empty()) {
        const auto x = take_entry(directory, whose);
        if (!dropped.contains(x.run))
          collect(runs[x.run], x, at, cut(lines, offset, x.size));
        offset += x.size;
      }
    }
  }
  if (at != log.extent().last + 1)
    throw damaged{whose, "the log of commits has lost its end"};
  // First, so that the pages of the log become those of the rows.
  log.clear();
  for (auto& [n, run] : runs) {
    for (auto& x : run.pieces)
      to.add({n, x.first_seq, x.last_seq, x.lines, std::move(x.shares),
              x.is_damaged});
    to.put_head(n, run.head);
  }
}

}  // namespace riffle::storage
