// SPDX-License-Identifier: MIT
// Lists of sessions and runs: what is damaged is left out, and counted.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/storage/row_reader.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

namespace {

bool is_plain_id(std::string_view id) {
  return !id.empty() && std::ranges::all_of(id, [](unsigned char c) {
    return c > 0x20 && c < 0x7F;
  });
}

/// The second way where an entry of an index leads to no row.
template <class F, class G>
void with_sound_index(F of_index, G of_table) {
  try {
    return of_index();
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
  }
  of_table();
}

std::int64_t limit_of(std::size_t limit) {
  return static_cast<std::int64_t>(
      std::min<std::size_t>(limit, static_cast<std::size_t>(max_runs)));
}

}  // namespace

std::vector<session_id> row_reader::list_sessions(std::size_t limit,
                                                  std::size_t& damaged_ones) {
  std::vector<session_id> all;
  std::unordered_set<std::string> seen;
  damaged_ones = 0;
  const auto take = [&](std::string id) {
    if (seen.insert(id).second) all.push_back({std::move(id)});
  };
  // No index: what one of them says may be damaged, and would hide a session.
  auto newest = sessions_of_runs_.query();
  while (all.size() < limit && newest.next()) {
    const auto session = newest.text(1);
    if (seen.contains(session)) continue;
    auto found = run_by_number_.query(newest.integer(0));
    if (!found.next()) continue;
    try {
      take(read_run(found, "a session").session);
    } catch (const damaged&) {
      ++damaged_ones;
      // Whoever sees it can delete it.
      auto id = shown_session(found);
      if (is_plain_id(id)) take(std::move(id));
    }
  }
  return all;
}

std::vector<run_row> row_reader::list_runs(const run_filter& filter,
                                           std::optional<std::int64_t> before,
                                           std::size_t& left_out) {
  std::vector<run_row> all;
  left_out = 0;
  const auto fits = [&](const run_row& x) {
    return (!filter.state || x.state == *filter.state) &&
           (!filter.session || x.session == filter.session->value) &&
           (!filter.ordinal || x.ordinal == *filter.ordinal);
  };
  const auto take = [&](const sqlite::rows& from) {
    try {
      auto x = read_run(from, "a run");
      if (fits(x) && (!before || x.n < *before)) all.push_back(std::move(x));
    } catch (const damaged&) {
      ++left_out;
    }
  };
  const auto most = std::numeric_limits<std::int64_t>::max();
  if (filter.session) {
    auto found = filter.ordinal ? run_of_session_.query(filter.session->value,
                                                        *filter.ordinal)
                                : runs_by_session_.query(filter.session->value);
    while (found.next()) take(found);
    std::ranges::reverse(all);
    if (all.size() > filter.limit)
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(filter.limit),
                all.end());
    return all;
  }
  const bool active = filter.state == run_state::active;
  auto found = active ? active_runs_.query(most)
                      : runs_before_.query(before.value_or(most));
  while (all.size() < filter.limit && found.next()) take(found);
  return all;
}

std::vector<run_row> row_reader::active_runs(std::size_t limit,
                                             std::size_t& left_out) {
  std::vector<run_row> all;
  left_out = 0;
  const auto take = [&](const sqlite::rows& found) {
    try {
      all.push_back(read_run(found, "a run"));
    } catch (const damaged&) {
      ++left_out;
    }
  };
  const auto of_index = [&] {
    auto found = active_runs_.query(limit_of(limit));
    while (found.next()) take(found);
  };
  const auto of_table = [&] {
    all.clear();
    left_out = 0;
    auto found = runs_before_.query(std::numeric_limits<std::int64_t>::max());
    while (all.size() < limit && found.next())
      if (found.integer(4) == 0) take(found);
  };
  with_sound_index(of_index, of_table);
  return all;
}

std::optional<std::vector<run_record>> list_runs_of(row_reader& rows,
                                                    const run_filter& filter,
                                                    std::size_t& left_out) {
  std::optional<std::int64_t> before;
  if (filter.before) {
    const auto row = rows.find_run(*filter.before);
    if (!row) return {};
    before = row->n;
  }
  std::vector<run_record> all;
  for (const auto& row : rows.list_runs(filter, before, left_out))
    if (auto record = record_if_whole(row, left_out))
      all.push_back(std::move(*record));
  return all;
}

std::optional<run_record> record_if_whole(const run_row& row,
                                          std::size_t& left_out) {
  try {
    return record_of(row);
  } catch (const damaged&) {
    ++left_out;
    return {};
  }
}

}  // namespace riffle::storage
