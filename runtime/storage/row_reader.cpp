// SPDX-License-Identifier: MIT
#include "runtime/storage/row_reader.hpp"

#include <algorithm>
#include <new>

#include "runtime/storage/record_json.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

namespace {

constexpr std::string_view run_columns =
    "SELECT n, id, session, ordinal, state, owner, crc, data FROM runs ";

std::string select_run(std::string_view rest) {
  return std::string{run_columns}.append(rest);
}

constexpr std::string_view bad_checksum = " fails its checksum";

[[noreturn]] void lost(const run_row& run, std::uint64_t seq) {
  throw damaged{"run " + run.id,
                "its event " + std::to_string(seq) + " is lost"};
}

}  // namespace

/// A page that is put together from blocks in their order.
class page_writer {
 public:
  page_writer(std::uint64_t after_seq, std::uint64_t last_seq,
              std::size_t max_bytes)
      : next_{after_seq + 1}, last_{last_seq}, max_bytes_{max_bytes} {}

  /// The event that comes next; `last` is the last of the run.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] bool wants_more() const noexcept {
    return next_ <= last_ && !full_;
  }
  /// The block has `next`. One that is too much fills the page, unless it is
  /// the first.
  void add(event_block block) {
    block = cut_front(block, next_ - 1);
    full_ = bytes_ + block.lines->size() >= max_bytes_;
    if (!page_.blocks.empty() && bytes_ + block.lines->size() > max_bytes_)
      return;
    bytes_ += block.lines->size();
    next_ = block.last_seq + 1;
    page_.blocks.push_back(std::move(block));
  }
  event_page take() {
    page_.end = next_ > last_;
    return std::move(page_);
  }

 private:
  event_page page_;
  std::uint64_t next_;
  std::uint64_t last_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  bool full_ = false;
};

row_reader::row_reader(sqlite::database& db)
    : db_{db},
      log_{db},
      proposals_{db},
      grants_{db},
      state_{db},
      files_{db},
      run_by_id_{db, select_run("INDEXED BY runs_by_id WHERE id = ?")},
      run_by_id_again_{db,
                       "SELECT count(*) FROM runs INDEXED BY "
                       "runs_by_id_again WHERE id = ?"},
      runs_by_session_{db, select_run("INDEXED BY runs_by_session "
                                      "WHERE session = ? ORDER BY ordinal")},
      run_of_session_{db, select_run("INDEXED BY runs_by_session "
                                     "WHERE session = ? AND ordinal = ?")},
      runs_by_session_again_{db,
                             "SELECT count(*) FROM runs INDEXED BY "
                             "runs_by_session_again WHERE session = ?"},
      every_run_{db, select_run("NOT INDEXED ORDER BY n")},
      active_run_{db, select_run("INDEXED BY runs_active "
                                 "WHERE session = ? AND state = 0")},
      active_runs_{db, select_run("INDEXED BY runs_active WHERE state = 0 "
                                  "ORDER BY n DESC LIMIT ?")},
      runs_before_{db, select_run("WHERE n < ? ORDER BY n DESC")},
      sessions_of_runs_{
          db, "SELECT n, session FROM runs NOT INDEXED ORDER BY n DESC"},
      head_{db, "SELECT last_seq, messages, calls, crc FROM heads WHERE n = ?"},
      messages_{db,
                "SELECT key, crc, data FROM messages WHERE key > ? AND "
                "key < ? ORDER BY key"},
      calls_{db,
             "SELECT key, crc, data FROM calls WHERE key > ? AND key < ? "
             "ORDER BY key"},
      block_at_{db,
                "SELECT key, last_seq, crc, lines FROM blocks WHERE "
                "key BETWEEN ? AND ? ORDER BY key DESC LIMIT 2"},
      blocks_after_{db,
                    "SELECT key, last_seq, crc, lines FROM blocks WHERE "
                    "key > ? AND key < ? ORDER BY key"},
      run_by_number_{db, select_run("WHERE n = ?")},
      feed_rows_{db,
                 "SELECT feed.last, feed.key, feed.crc, blocks.last_seq,"
                 " blocks.commits FROM feed LEFT JOIN blocks ON blocks.key ="
                 " feed.key WHERE feed.last BETWEEN ? AND ?"},
      first_commits_{db, "SELECT commits FROM blocks WHERE key = ?"},
      commits_at_{db,
                  "SELECT key, last_seq, commits FROM blocks WHERE key BETWEEN "
                  "? AND ? ORDER BY key DESC LIMIT 1"},
      output_by_id_{db,
                    "SELECT crc, text FROM outputs INDEXED BY "
                    "outputs_by_id WHERE id = ?"},
      output_by_id_again_{db,
                          "SELECT count(*) FROM outputs INDEXED BY "
                          "outputs_by_id_again WHERE id = ?"} {}

run_row row_reader::read_run(const sqlite::rows& from,
                             const std::string& whose) {
  run_row x;
  x.n = from.integer(0);
  x.id = from.text(1);
  x.session = from.text(2);
  x.ordinal = from.number(3);
  const auto state = from.integer(4);
  x.state = static_cast<run_state>(state & 3);
  x.owner = from.text(5);
  x.data = from.text(7);
  if (state != (state & 3) || crc_of(x) != from.number(6))
    throw damaged{whose, "the row of a run" + std::string{bad_checksum}};
  return x;
}

std::size_t row_reader::count(sqlite::statement& s, std::string_view key) {
  auto found = s.query(key);
  return found.next() ? static_cast<std::size_t>(found.integer(0)) : 0;
}

std::optional<run_row> row_reader::find_run(const run_id& id) {
  {
    auto found = run_by_id_.query(id.value);
    if (found.next()) return read_run(found, "run " + id.value);
  }
  if (count(run_by_id_again_, id.value) != 0)
    throw damaged{"run " + id.value, "an index has lost it"};
  return std::nullopt;
}

std::vector<run_row> row_reader::runs_of(const session_id& id) {
  const auto whose = "session " + id.value;
  std::vector<run_row> runs;
  {
    auto found = runs_by_session_.query(id.value);
    while (found.next()) {
      runs.push_back(read_run(found, whose));
      if (runs.back().ordinal != runs.size())
        throw damaged{whose, "it has no run " + std::to_string(runs.size())};
    }
  }
  if (count(runs_by_session_again_, id.value) != runs.size())
    throw damaged{whose, "an index has lost one of its runs"};
  return runs;
}

std::optional<run_row> row_reader::active_run(const session_id& id) {
  auto found = active_run_.query(id.value);
  if (!found.next()) return std::nullopt;
  return read_run(found, "session " + id.value);
}

head_row row_reader::read_head(const run_row& run) {
  // The head of a run that has ended is written with its end.
  if (run.state != run_state::active) return read_stored_head(run);
  const auto whose = "run " + run.id;
  log_.refresh();
  if (log_.is_suspect(run.n))
    throw damaged{whose,
                  "its end may be lost: the log of commits " + log_.problem()};
  const auto* later = log_.head(run.n);
  if (later == nullptr) return read_stored_head(run);
  auto found = head_.query(run.n);
  if (!found.next()) return *later;
  const head_row x{found.number(0), found.number(1), found.number(2)};
  // It counts what was before it, so the stored one is not needed.
  if (crc_of(run.n, x) != found.number(3) || x == lost_head) return *later;
  if (later->last_seq < x.last_seq || later->messages < x.messages ||
      later->calls < x.calls)
    throw damaged{whose, "its head and the log of commits contradict"};
  return *later;
}

head_row row_reader::read_stored_head(const run_row& run) {
  auto found = head_.query(run.n);
  if (!found.next()) throw damaged{"run " + run.id, "its head is lost"};
  const head_row x{found.number(0), found.number(1), found.number(2)};
  if (crc_of(run.n, x) != found.number(3))
    throw damaged{"run " + run.id, "its head" + std::string{bad_checksum}};
  if (x == lost_head)
    throw damaged{"run " + run.id,
                  "its end may be lost, with a part of the log of commits"};
  return x;
}

const std::string& row_reader::log_problem() {
  log_.refresh();
  return log_.problem();
}

template <class F>
void row_reader::for_each_part(sqlite::statement& s, std::string_view table,
                               const run_row& run, std::uint64_t count, F f) {
  const auto whose = "run " + run.id;
  const auto name_of = [&](std::uint64_t place) {
    return std::string{table} + " " + std::to_string(place);
  };
  std::uint64_t place = 0;
  std::optional<damaged> problem;
  auto found = s.query(part_key(run.n, 0), part_key(run.n + 1, 0));
  while (found.next()) {
    const auto key = found.integer(0);
    const auto data = found.bytes(2);
    if (crc_of_part(table, key, data) != found.number(1)) {
      // One too many was another run's before it was damaged.
      if (!problem)
        problem.emplace(whose, name_of(place + 1) + std::string{bad_checksum});
      continue;
    }
    if (key != part_key(run.n, ++place))
      throw problem.value_or(damaged{whose, name_of(place) + " is lost"});
    try {
      f(place, data);
    } catch (const std::bad_alloc&) {
      throw;  // that says nothing of the row
    } catch (const std::exception& wrong) {
      throw damaged{whose, name_of(place) + ": " + wrong.what()};
    }
  }
  if (place != count)
    throw problem.value_or(damaged{whose, "it has " + std::to_string(place) +
                                              " of " + std::to_string(count) +
                                              " " + std::string{table} + "s"});
}

void row_reader::for_each_message(
    const run_row& run, std::uint64_t count,
    const std::function<void(message_record)>& f) {
  for_each_part(messages_, "message", run, count,
                [&f](std::uint64_t, std::string_view data) {
                  f(message_from_json(data));
                });
}

void row_reader::for_each_call(
    const run_row& run, std::uint64_t count,
    const std::function<void(std::uint64_t, call_record)>& f) {
  for_each_part(calls_, "call", run, count,
                [&f](std::uint64_t place, std::string_view data) {
                  f(place, call_from_json(data));
                });
}

session_snapshot row_reader::read_session(const session_id& id) {
  session_snapshot x{id, {}, {}, {}, {}, {}};
  for (const auto& run : runs_of(id)) {
    const auto head = read_head(run);
    x.runs.push_back(record_of(run));
    for_each_message(run, head.messages, [&x](message_record m) {
      x.messages.push_back(std::move(m));
    });
    for_each_call(run, head.calls, [&x](std::uint64_t, call_record c) {
      x.calls.push_back(std::move(c));
    });
  }
  x.proposals = proposals_.of_session(id.value);
  x.state = state_.of_session(id);
  return x;
}

event_block row_reader::read_block(const sqlite::rows& from, const run_row& run,
                                   std::uint64_t last_seq) {
  const auto key = from.integer(0);
  event_block block{static_cast<std::uint64_t>(key - block_key(run.n, 0)),
                    from.number(1), nullptr};
  const auto lines = from.bytes(3);
  const auto name = "its block at event " + std::to_string(block.first_seq);
  if (crc_of_block(key, block.last_seq, lines) != from.number(2))
    throw damaged{"run " + run.id, name + std::string{bad_checksum}};
  if (block.last_seq > last_seq)
    throw damaged{"run " + run.id, name + " goes beyond its end"};
  block.lines = std::make_shared<const std::string>(lines);
  return block;
}

/// The row of the run that has an event, if there is one. A damaged one that
/// stands between may have been another run's.
std::optional<event_block> row_reader::block_with(const run_row& run,
                                                  std::uint64_t seq,
                                                  std::uint64_t last_seq) {
  std::optional<damaged> problem;
  auto at = block_at_.query(block_key(run.n, 0), block_key(run.n, seq));
  while (at.next()) {
    try {
      auto block = read_block(at, run, last_seq);
      if (block.first_seq > seq)  // whole, but not where it should lie
        throw damaged{"run " + run.id, "its rows lie in a wrong order"};
      if (block.last_seq >= seq) return block;
      break;  // it is lost, or the log has it
    } catch (const damaged& x) {
      if (!problem) problem = x;
    }
  }
  if (!problem) return {};
  log_.refresh();
  if (log_.find(run.n, seq) == nullptr) throw *problem;
  return {};
}

bool row_reader::add_own_rows(const run_row& run, page_writer& page) {
  const auto from_key = block_key(run.n, page.next());
  auto block = block_with(run, page.next(), page.last());
  if (!block) return false;
  page.add(std::move(*block));
  auto rest = blocks_after_.query(from_key, block_key(run.n + 1, 0));
  while (page.wants_more() && rest.next() &&
         rest.integer(0) == block_key(run.n, page.next()))
    page.add(read_block(rest, run, page.last()));
  return true;
}

bool row_reader::add_from_log(const run_row& run, page_writer& page) {
  const auto whose = "run " + run.id;
  log_.refresh();
  bool added = false;
  while (page.wants_more()) {
    const auto* part = log_.find(run.n, page.next());
    if (part == nullptr) break;
    if (part->last_seq > page.last())
      throw damaged{whose, "the log of commits goes beyond its end"};
    page.add(
        {part->first_seq, part->last_seq,
         std::make_shared<const std::string>(log_.lines(run.n, *part, whose))});
    added = true;
  }
  return added;
}

/// A run's lines lie in rows of its own, in the log of commits, or in turn in
/// both; where a row of its own has them, the log is not asked.
event_page row_reader::read_events(const run_row& run, std::uint64_t after_seq,
                                   std::size_t max_bytes) {
  page_writer page{after_seq, read_head(run).last_seq, max_bytes};
  while (page.wants_more())
    if (!add_own_rows(run, page) && !add_from_log(run, page))
      lost(run, page.next());
  return page.take();
}

std::optional<std::string> row_reader::find_output(const call_id& id) {
  const auto whose = "the output of call " + id.value;
  {
    auto found = output_by_id_.query(id.value);
    if (found.next()) {
      if (crc_of_output(id.value, found.bytes(1)) != found.number(0))
        throw damaged{whose, "it" + std::string{bad_checksum}};
      return found.text(1);
    }
  }
  if (count(output_by_id_again_, id.value) != 0)
    throw damaged{whose, "an index has lost it"};
  return std::nullopt;
}

}  // namespace riffle::storage
