// SPDX-License-Identifier: MIT
// Rows whose run's own row is lost, or whose keys are damaged, for who deletes
// the session that they were of.
#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/storage/record_json.hpp"
#include "runtime/storage/row_reader.hpp"

namespace riffle::storage {

namespace {

/// Tables whose keys begin with the number of a run; the lowest `bits` are the
/// place in it.
struct keyed_table {
  const char* next;  ///< the first key in a range
  int bits;
};
constexpr keyed_table keyed_tables[] = {
    {"SELECT min(n) FROM heads WHERE n BETWEEN ? AND ? HAVING min(n) NOT NULL",
     0},
    {"SELECT min(key) FROM messages WHERE key BETWEEN ? AND ? HAVING min(key) "
     "NOT NULL",
     part_bits},
    {"SELECT min(key) FROM calls WHERE key BETWEEN ? AND ? HAVING min(key) NOT "
     "NULL",
     part_bits},
    {"SELECT min(key) FROM blocks WHERE key BETWEEN ? AND ? HAVING min(key) "
     "NOT "
     "NULL",
     seq_bits},
};

/// The text of a member in an event's line; empty: it has none. What is cut off
/// or damaged behind it does not matter.
std::string member_of(std::string_view line, std::string_view name) {
  const auto key = "\"" + std::string{name} + "\":\"";
  const auto at = line.find(key);
  if (at == line.npos) return {};
  line.remove_prefix(at + key.size());
  const auto end = line.find('"');
  return std::string{end == line.npos ? std::string_view{}
                                      : line.substr(0, end)};
}

/// Of the head of a line and, of a run's first one, of the begin of its `data`:
/// what texts hold comes later.
void read_line(lost_run& x, std::string_view lines) {
  constexpr std::string_view first = "{\"seq\":1,";
  const auto line = lines.substr(0, lines.find('\n'));
  const auto data = line.find("\"data\":{");
  if (x.run.empty()) x.run = member_of(line.substr(0, data), "run_id");
  if (x.session.empty() && line.starts_with(first) && data != line.npos) {
    constexpr std::string_view begin = "\"data\":{\"session_id\":\"";
    if (line.substr(data).starts_with(begin))
      x.session = member_of(line.substr(data), "session_id");
  }
}

}  // namespace

/// Of all rows, by an index that is as long as their number; by each row where
/// that is damaged.
std::vector<std::int64_t> row_reader::numbers() {
  for (const auto* sql : {"SELECT n FROM runs INDEXED BY runs_by_id_again",
                          "SELECT n FROM runs NOT INDEXED"}) {
    std::vector<std::int64_t> all;
    try {
      sqlite::statement every{db_, sql};
      auto found = every.query();
      while (found.next()) all.push_back(found.integer(0));
      std::ranges::sort(all);
      return all;
    } catch (const sqlite::failure& problem) {
      if (!problem.is_corrupt()) throw;
    }
  }
  throw damaged{"the database", "its runs cannot be read"};
}

/// Numbers from `from` to `to_n` that rows have and no run.
void row_reader::add_lost(std::vector<lost_run>& to, std::int64_t from,
                          std::int64_t to_n) {
  for (const auto& table : keyed_tables) {
    // What shifts out of the key is no number of that table.
    const auto least = std::numeric_limits<std::int64_t>::min() >> table.bits;
    const auto most = std::numeric_limits<std::int64_t>::max() >> table.bits;
    auto n = std::max(from, least);
    const auto end = std::min(to_n, most);
    const auto places = (std::int64_t{1} << table.bits) - 1;
    sqlite::statement next{db_, table.next};
    while (n <= end) {
      std::int64_t key = 0;
      {
        auto found = next.query(n << table.bits, (end << table.bits) | places);
        if (!found.next()) break;
        key = found.integer(0);
      }
      n = key >> table.bits;
      // An index may have lost it.
      if (!has_number(n)) to.push_back({n, {}, {}});
      if (n == end) break;
      ++n;
    }
  }
}

/// What its messages say, else its lines, else its calls.
void row_reader::read_lost(lost_run& x) {
  const auto from = (x.n << part_bits);
  const auto to = from | ((std::int64_t{1} << part_bits) - 1);
  const bool has_parts =
      x.n >> (63 - part_bits) == 0 || x.n >> (63 - part_bits) == -1;
  const auto each = [&](const char* table, auto f) {
    sqlite::statement all{db_, "SELECT data FROM " + std::string{table} +
                                   " WHERE key BETWEEN ? AND ?"};
    auto found = all.query(from, to);
    while (x.session.empty() && found.next()) {
      try {
        f(found.bytes(0));
      } catch (const std::exception&) {
        continue;  // another may say it
      }
    }
  };
  if (has_parts)
    each("messages", [&](std::string_view data) {
      auto one = message_from_json(data);
      x.session = std::move(one.session.value);
      x.run = std::move(one.run.value);
    });
  if (x.n > -max_runs && x.n < max_runs - 1) {
    auto blocks =
        blocks_after_.query(block_key(x.n, 0) - 1, block_key(x.n + 1, 0));
    while (x.session.empty() && blocks.next()) read_line(x, blocks.bytes(3));
  }
  log_.for_each_part(x.n, [&](const auto& part) {
    try {
      if (x.session.empty()) read_line(x, log_.lines(x.n, part, "a run"));
    } catch (const damaged&) {
      return;
    }
  });
  if (has_parts && x.run.empty())
    each("calls", [&](std::string_view data) {
      x.run = call_from_json(data).run.value;
    });
}

/// Of pages that cannot be read nothing can be said here: that costs no
/// deletion, and no list.
std::vector<lost_run> row_reader::lost_runs() {
  try {
    return find_lost();
  } catch (const damaged&) {
    return {};
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
    return {};
  }
}

std::vector<lost_run> row_reader::find_lost() {
  std::vector<lost_run> all;
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  auto after = least;
  for (const auto n : numbers()) {
    if (n > after) add_lost(all, after, n - 1);
    after = std::max(after, n == most ? n : n + 1);
  }
  add_lost(all, after, most);
  std::ranges::sort(all, {}, &lost_run::n);
  const auto twice = std::ranges::unique(all, {}, &lost_run::n);
  all.erase(twice.begin(), twice.end());
  if (all.empty()) return all;
  log_.refresh();
  std::map<std::string, std::string> sessions;
  for (auto& x : all) {
    read_lost(x);
    if (!x.session.empty() && !x.run.empty()) sessions[x.run] = x.session;
  }
  for (auto& x : all) {
    if (!x.session.empty() || x.run.empty()) continue;
    if (const auto i = sessions.find(x.run); i != sessions.end()) {
      x.session = i->second;
      continue;
    }
    auto found = run_by_id_.query(x.run);
    if (found.next()) x.session = shown_session(found);
  }
  return all;
}

std::vector<lost_run> row_reader::lost_runs_of(const session_id& id) {
  auto all = lost_runs();
  std::erase_if(all, [&](const auto& x) { return x.session != id.value; });
  return all;
}

}  // namespace riffle::storage
