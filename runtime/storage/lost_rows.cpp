// SPDX-License-Identifier: MIT
// Rows whose run's own row is lost, or whose keys are damaged, for who deletes
// the session that they were of.
#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/storage/known_lost.hpp"
#include "runtime/storage/record_json.hpp"

namespace riffle::storage {

namespace {

/// Tables whose keys begin with the number of a run; the lowest `bits` are the
/// place in it.
struct keyed_table {
  const char* next;  ///< the first key in a range
  int bits;
};
constexpr std::array<keyed_table, 4> keyed_tables{{
    {"SELECT n FROM heads WHERE n BETWEEN ? AND ? ORDER BY n LIMIT 1", 0},
    {"SELECT key FROM messages WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1",
     part_bits},
    {"SELECT key FROM calls WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1",
     part_bits},
    {"SELECT key FROM blocks WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1",
     seq_bits},
}};

constexpr auto least_key = std::numeric_limits<std::int64_t>::min();
constexpr auto most_key = std::numeric_limits<std::int64_t>::max();

/// So many numbers that all gaps in them are looked at in milliseconds.
constexpr std::int64_t few_numbers = 2'000;

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

struct row_reader::lost_statements {
  explicit lost_statements(sqlite::database& db)
      : version{db, "PRAGMA data_version"},
        counts{db,
               "SELECT (SELECT count(*) FROM heads), (SELECT count(*) FROM "
               "runs), (SELECT min(n) FROM runs), (SELECT max(n) FROM runs)"},
        messages{db, "SELECT data FROM messages WHERE key BETWEEN ? AND ?"},
        calls{db, "SELECT data FROM calls WHERE key BETWEEN ? AND ?"} {
    for (const auto& table : keyed_tables) next.emplace_back(db, table.next);
  }

  sqlite::statement version;
  sqlite::statement counts;
  sqlite::statement messages;
  sqlite::statement calls;
  std::vector<sqlite::statement> next;  ///< of `keyed_tables`
  std::optional<std::int64_t> looked_at{};
};

row_reader::lost_statements& row_reader::for_lost() {
  if (!for_lost_) for_lost_ = std::make_shared<lost_statements>(db_);
  return *for_lost_;
}

bool row_reader::is_changed() {
  auto& own = for_lost();
  auto now = own.version.query();
  return !now.next() || own.looked_at != now.integer(0);
}

/// A lost row of a run leaves its head; damaged keys lie, but for few, outside
/// of all numbers.
bool row_reader::may_have_lost(bool each_gap) {
  auto& own = for_lost();
  std::int64_t first = 1;
  std::int64_t last = 0;
  {
    auto counts = own.counts.query();
    if (!counts.next() || counts.integer(0) != counts.integer(1)) return true;
    if (counts.integer(1) != 0) {
      first = counts.integer(2);
      last = counts.integer(3);
    }
    if (first < 1 || last >= max_runs - 1) return true;
    if (each_gap && last < first + few_numbers &&
        last - first + 1 != counts.integer(1))
      return true;
  }
  for (std::size_t i = 0; i < keyed_tables.size(); ++i) {
    const auto bits = keyed_tables[i].bits;
    auto& next = own.next[i];
    if (next.query(least_key, (first << bits) - 1).next()) return true;
    if (next.query((last + 1) << bits, most_key).next()) return true;
  }
  return false;
}

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

/// Numbers that rows of a table have and no run: where one stands that a run
/// has, the next to look at is the one behind it that none has.
void row_reader::add_lost(std::vector<lost_run>& to, std::size_t table,
                          const std::vector<std::int64_t>& numbers) {
  const auto bits = keyed_tables[table].bits;
  // What shifts out of the key is no number of that table.
  const auto most = most_key >> bits;
  auto n = least_key >> bits;
  for (auto i = numbers.begin();;) {
    for (; i != numbers.end() && *i <= n; ++i) {
      if (*i < n) continue;
      if (n == most) return;
      ++n;
    }
    std::int64_t key = 0;
    {
      auto found = for_lost().next[table].query(n << bits, most_key);
      if (!found.next()) return;
      key = found.integer(0);
    }
    n = key >> bits;
    while (i != numbers.end() && *i < n) ++i;
    if (i != numbers.end() && *i == n) continue;
    // An index may have lost it.
    if (!has_number(n)) to.push_back({n, {}, {}});
    if (n == most) return;
    ++n;
  }
}

/// What its messages say, else its lines, else its calls.
void row_reader::read_lost(lost_run& x) {
  const auto from = (x.n << part_bits);
  const auto to = from | ((std::int64_t{1} << part_bits) - 1);
  const bool has_parts =
      x.n >> (63 - part_bits) == 0 || x.n >> (63 - part_bits) == -1;
  const auto each = [&](sqlite::statement& all, auto f) {
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
    each(for_lost().messages, [&](std::string_view data) {
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
    each(for_lost().calls, [&](std::string_view data) {
      x.run = call_from_json(data).run.value;
    });
}

/// Of pages that cannot be read nothing can be said here: that costs no
/// deletion, and no list.
std::vector<lost_run> row_reader::lost_runs(bool each_gap) {
  {
    auto& own = for_lost();
    auto now = own.version.query();
    own.looked_at.reset();
    if (now.next()) own.looked_at = now.integer(0);
  }
  bool may = true;
  try {
    may = may_have_lost(each_gap);
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
  }
  try {
    return may ? find_lost() : std::vector<lost_run>{};
  } catch (const damaged&) {
    return {};
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
    return {};
  }
}

std::vector<lost_run> row_reader::find_lost() {
  std::vector<lost_run> all;
  const auto runs = numbers();
  for (std::size_t i = 0; i < keyed_tables.size(); ++i) add_lost(all, i, runs);
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

std::vector<lost_run> known_lost::all(row_reader& rows, bool anew) {
  std::lock_guard lock{mutex_};
  return look(rows, anew);
}

std::vector<lost_run> known_lost::of(row_reader& rows, const session_id& id,
                                     bool anew) {
  std::lock_guard lock{mutex_};
  std::vector<lost_run> some;
  std::ranges::copy_if(look(rows, anew), std::back_inserter(some),
                       [&](const auto& x) { return x.session == id.value; });
  return some;
}

const std::vector<lost_run>& known_lost::look(row_reader& rows, bool anew) {
  if (!all_ || (anew && rows.is_changed()))
    all_ = rows.lost_runs(!all_ || !all_->empty());
  return *all_;
}

void known_lost::name(const std::vector<session_id>& ids) {
  std::lock_guard lock{mutex_};
  named_.insert(ids.begin(), ids.end());
}

bool known_lost::is_named(const session_id& id) {
  std::lock_guard lock{mutex_};
  return named_.contains(id);
}

void known_lost::forget(const session_id& id) {
  std::lock_guard lock{mutex_};
  named_.erase(id);
  if (all_)
    std::erase_if(*all_, [&](const auto& x) { return x.session == id.value; });
}

}  // namespace riffle::storage
