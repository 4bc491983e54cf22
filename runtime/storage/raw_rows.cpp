// SPDX-License-Identifier: MIT
// What can still be found of runs that are damaged, for who deletes them.
#include <exception>
#include <string_view>
#include <utility>

#include "runtime/storage/record_json.hpp"
#include "runtime/storage/row_reader.hpp"

namespace riffle::storage {

namespace {

/// As events have it; within texts of theirs quotes are escaped.
constexpr std::string_view call_key = "\"id\":\"call_";
constexpr std::size_t before_id = 6;

void add_ids(std::set<std::string>& to, std::string_view lines) {
  for (auto at = lines.find(call_key); at != lines.npos;
       at = lines.find(call_key, at)) {
    at += before_id;
    const auto end = lines.find('"', at);
    if (end == lines.npos) return;
    to.emplace(lines.substr(at, end - at));
  }
}

run_row raw_run(const sqlite::rows& from) {
  run_row x;
  x.n = from.integer(0);
  x.id = from.text(1);
  x.session = from.text(2);
  x.ordinal = from.number(3);
  x.state = static_cast<run_state>(from.integer(4) & 3);
  x.owner = from.text(5);
  x.data = from.text(7);
  return x;
}

/// Of which session the row is. If it fails its checksum, its record may be
/// right where what stands beside it is not.
std::string session_of(const run_row& x, std::uint64_t crc) {
  if (crc_of(x) == crc) return x.session;
  try {
    return run_from_json(x.data).session.value;
  } catch (const std::exception&) {
    return x.session;
  }
}

}  // namespace

std::string row_reader::shown_session(const sqlite::rows& from) {
  return session_of(raw_run(from), from.number(6));
}

bool row_reader::has_number(std::int64_t n) {
  return run_by_number_.query(n).next();
}

/// Empty: the indexes do not agree, or lead nowhere.
std::vector<run_row> row_reader::indexed_runs_of(const session_id& id) {
  std::vector<run_row> all;
  try {
    auto found = runs_by_session_.query(id.value);
    while (found.next()) {
      auto x = raw_run(found);
      if (session_of(x, found.number(6)) == id.value)
        all.push_back(std::move(x));
    }
    if (count(runs_by_session_again_, id.value) != all.size()) all.clear();
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
    all.clear();
  }
  return all;
}

std::vector<run_row> row_reader::raw_runs_of(const session_id& id,
                                             bool by_each_row) {
  if (!by_each_row)
    if (auto all = indexed_runs_of(id); !all.empty()) return all;
  // An index has lost it, or its row shows another session.
  std::vector<run_row> all;
  auto every = every_run_.query();
  while (every.next()) {
    auto x = raw_run(every);
    if (session_of(x, every.number(6)) == id.value) all.push_back(std::move(x));
  }
  return all;
}

/// Whether an event is neither in rows of the run nor in the log.
bool row_reader::has_hole(const run_row& run, std::uint64_t last_seq) {
  log_.refresh();
  std::uint64_t next = 1;
  const auto pass_log = [&](std::uint64_t to) {
    while (next < to) {
      const auto* part = log_.find(run.n, next);
      if (part == nullptr) return false;
      next = part->last_seq + 1;
    }
    return true;
  };
  auto rows = blocks_after_.query(block_key(run.n, 0), block_key(run.n + 1, 0));
  while (rows.next()) {
    const auto first =
        static_cast<std::uint64_t>(rows.integer(0) - block_key(run.n, 0));
    if (!pass_log(first)) return true;
    next = rows.number(1) + 1;
  }
  return !pass_log(last_seq + 1);
}

std::optional<std::set<std::string>> row_reader::calls_if_whole(
    const run_row& run) {
  std::set<std::string> all;
  try {
    const auto head = read_head(run);
    for_each_call(run, head.calls, [&](std::uint64_t, const call_record& x) {
      all.insert(x.call.id.value);
    });
    if (has_hole(run, head.last_seq)) return {};
  } catch (const damaged&) {
    return {};
  }
  return all;
}

std::set<std::string> row_reader::find_call_ids(const run_row& run) {
  std::set<std::string> all;
  {
    auto rows = calls_.query(part_key(run.n, 0), part_key(run.n + 1, 0));
    while (rows.next()) {
      try {
        all.insert(call_from_json(rows.bytes(2)).call.id.value);
      } catch (const std::exception&) {
        continue;  // its lines may show it
      }
    }
  }
  {
    auto rows =
        blocks_after_.query(block_key(run.n, 0), block_key(run.n + 1, 0));
    while (rows.next()) add_ids(all, rows.bytes(3));
  }
  log_.refresh();
  log_.for_each_part(run.n, [&](const auto& part) {
    try {
      add_ids(all, log_.lines(run.n, part, "a run"));
    } catch (const damaged&) {
      return;
    }
  });
  return all;
}

}  // namespace riffle::storage
