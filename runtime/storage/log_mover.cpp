// SPDX-License-Identifier: MIT
#include "runtime/storage/log_mover.hpp"

#include <algorithm>
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
  std::uint64_t commit = 0;  ///< the last one that has something of it
  std::vector<piece> pieces;
};

/// Numbers that commits behind the last known one may have had: more than the
/// log ever holds.
constexpr std::uint64_t lost_commits = 20'000;

/// The lines of a row of the log; what is not there is left out.
std::string_view cut(std::string_view lines, std::uint64_t at,
                     std::uint64_t size) {
  return at < lines.size() ? lines.substr(at, size) : std::string_view{};
}

void collect(moved_run& run, const log_entry& x, std::uint64_t commit,
             std::string_view lines) {
  run.head = x.head;
  run.commit = commit;
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

std::string to_text(const log_loss& x) {
  constexpr std::size_t most_named = 8;
  auto out = "the log of commits " + x.problem + ": what it had is lost";
  if (x.runs.empty()) return out + ", but no run ends there";
  out += "; runs that cannot go on, as their end may be lost:";
  for (std::size_t i = 0; i < x.runs.size() && i < most_named; ++i)
    out += (i == 0 ? " " : ", ") + x.runs[i];
  if (x.runs.size() > most_named)
    out += " and " + std::to_string(x.runs.size() - most_named) + " more";
  return out;
}

struct log_mover::found_rows {
  std::map<std::int64_t, moved_run> runs;
  log_check check;
  std::uint64_t last = 0;  ///< the last that is whole
};

log_mover::log_mover(sqlite::database& db)
    : db_{db},
      rows_{db, "SELECT n, crc, directory, lines FROM commits ORDER BY n"},
      active_{db,
              "SELECT n, id FROM runs INDEXED BY runs_active WHERE state = "
              "0"} {}

void log_mover::collect_all(found_rows& found,
                            const std::set<std::int64_t>& dropped) {
  bool is_cut = false;
  try {
    auto rows = rows_.query();
    while (rows.next()) {
      const auto n = rows.number(0);
      auto directory = rows.bytes(2);
      if (!found.check.on_row(n, is_whole_row(n, directory, rows.number(1))))
        continue;
      found.last = std::max(found.last, n);
      const auto lines = rows.bytes(3);
      std::uint64_t offset = 0;
      while (!directory.empty()) {
        const auto x = take_entry(directory, "the database");
        if (!dropped.contains(x.run))
          collect(found.runs[x.run], x, n, cut(lines, offset, x.size));
        offset += x.size;
      }
    }
  } catch (const sqlite::failure& problem) {
    is_cut = problem.is_corrupt();
    if (!is_cut) throw;
  }
  found.check.on_end(is_cut);
}

/// Of runs that end in what is lost. A run that has ended has its head.
log_loss log_mover::put_heads(const found_rows& found, block_writer& to,
                              const std::set<std::int64_t>& dropped,
                              const heads& own) {
  log_loss loss{found.check.problem(), {}};
  auto active = active_.query();
  while (active.next()) {
    const auto n = active.integer(0);
    if (dropped.contains(n)) continue;
    const auto known = own.find(n);
    const auto moved = found.runs.find(n);
    if (known != own.end()) {
      to.put_head(n, known->second);
    } else if (moved != found.runs.end() &&
               moved->second.commit > found.check.last_bad()) {
      to.put_head(n, moved->second.head);
    } else {
      to.put_head(n, lost_head);
      loss.runs.push_back(active.text(1));
    }
  }
  return loss;
}

std::optional<log_loss> log_mover::move(log_writer& log, block_writer& to,
                                        const std::set<std::int64_t>& dropped,
                                        const std::function<heads()>& own) {
  found_rows found;
  const bool has_extent = log.begin();
  const auto& extent = log.extent();
  found.check.begin(has_extent ? std::optional{extent} : std::nullopt,
                    has_extent ? extent.first - 1 : 0);
  collect_all(found, dropped);
  const bool has_end = found.check.has_end();
  if (has_end && log.rows() == 0) return {};
  // No number is used again.
  const auto last =
      has_end ? extent.last
              : std::max(found.last, last_moved_commit(db_)) + lost_commits;
  // First, so that the pages of the log become those of the rows.
  log.clear(last);
  const bool is_whole = found.check.problem().empty();
  for (auto& [n, run] : found.runs) {
    for (auto& x : run.pieces)
      to.add({n, x.first_seq, x.last_seq, x.lines, std::move(x.shares),
              x.is_damaged});
    if (is_whole) to.put_head(n, run.head);
  }
  if (is_whole) return {};
  return put_heads(found, to, dropped, own());
}

}  // namespace riffle::storage
