// SPDX-License-Identifier: MIT
#include "runtime/storage/commit_log.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/storage/block_rows.hpp"
#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/varint.hpp"

namespace riffle::storage {

namespace {

/// Room that is kept from one commit to the next.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

[[noreturn]] void bad(std::string_view whose, const std::string& what) {
  throw damaged{std::string{whose}, "the log of commits " + what};
}

void empty(std::string& x) {
  x.clear();
  if (x.capacity() > kept_bytes) x.shrink_to_fit();
}

}  // namespace

void put(std::string& directory, const log_entry& x) {
  put_varint(directory, static_cast<std::uint64_t>(x.run));
  put_varint(directory, x.head.last_seq);
  put_varint(directory, x.head.messages);
  put_varint(directory, x.head.calls);
  put_varint(directory, x.size);
  if (x.size == 0) return;
  put_varint(directory, x.head.last_seq - x.first_seq);
  put_varint(directory, x.crc);
}

log_entry take_entry(std::string_view& directory, std::string_view whose) {
  const auto next = [&] {
    const auto x = take_varint(directory);
    if (!x) bad(whose, "has a directory that ends too early");
    return *x;
  };
  log_entry x;
  x.run = static_cast<std::int64_t>(next());
  x.head.last_seq = next();
  x.head.messages = next();
  x.head.calls = next();
  x.size = next();
  if (x.size == 0) return x;
  x.first_seq = x.head.last_seq - next();
  x.crc = static_cast<std::uint32_t>(next());
  return x;
}

std::uint32_t crc_of(const log_extent& x) {
  return row_crc{}.add("log").add(x.first).add(x.last).add(x.bytes).value();
}

std::uint32_t crc_of_directory(std::uint64_t commit,
                               std::string_view directory) {
  return row_crc{}.add("commit").add(commit).add(directory).value();
}

std::uint64_t last_moved_commit(sqlite::database& db) {
  // From the last one of each class back to one that is whole.
  sqlite::statement back{db,
                         "SELECT last, key, crc FROM feed WHERE last BETWEEN ? "
                         "AND ? ORDER BY last DESC"};
  std::uint64_t most = 0;
  for (std::uint64_t cls = 0; cls < feed_classes; ++cls) {
    auto found =
        back.query(feed_place_of(cls, 0), feed_place_of(cls + 1, 0) - 1);
    while (found.next()) {
      const auto place = found.number(0);
      if (crc_of_feed(place, found.integer(1)) != found.number(2)) continue;
      const auto commit = place - feed_place_of(cls, 0);
      most = std::max(most, commit + (cls == 0 ? 0 : feed_width(cls)));
      break;
    }
  }
  return most;
}

void log_check::begin(const std::optional<log_extent>& extent,
                      std::uint64_t known) {
  extent_ = extent;
  at_ = known;
  if (!extent) distrust("has lost its extent, or it fails its checksum");
}

bool log_check::on_row(std::uint64_t n, bool is_whole) {
  if (extent_ && n > extent_->last) {
    // One that is whole was written: the extent is older than it.
    if (is_whole) distrust("has a row behind its end");
    return is_whole;
  }
  if (extent_ && n <= at_) return false;  // is of no commit that there is
  if (extent_ && n > at_ + 1)
    note(n - 1, "has lost its row " + std::to_string(at_ + 1));
  at_ = n;
  if (!is_whole)
    note(n, "has a row " + std::to_string(n) +
                " whose directory fails its checksum");
  return is_whole;
}

void log_check::on_end(bool is_cut) {
  if (is_cut) distrust("cannot be read to its end");
  if (extent_ && at_ < extent_->last)
    note(extent_->last, "has lost its row " + std::to_string(at_ + 1));
}

void log_check::distrust(const std::string& why) {
  has_end_ = false;
  note(std::numeric_limits<std::uint64_t>::max(), why);
}

void log_check::note(std::uint64_t commit, const std::string& what) {
  last_bad_ = std::max(last_bad_, commit);
  if (problem_.empty()) problem_ = what;
}

bool is_whole_row(std::uint64_t n, std::string_view directory,
                  std::uint64_t crc) {
  return crc_of_directory(n, directory) == crc;
}

log_reader::log_reader(sqlite::database& db)
    : db_{db},
      extent_{db, "SELECT first, last, bytes, crc FROM log WHERE n = 1"},
      directories_{db,
                   "SELECT n, crc, directory FROM commits WHERE n > ? "
                   "ORDER BY n"},
      lines_{db, "SELECT lines FROM commits WHERE n = ?"} {}

std::optional<log_extent> log_reader::extent() {
  auto found = extent_.query();
  if (!found.next()) return {};
  const log_extent x{found.number(0), found.number(1), found.number(2)};
  if (crc_of(x) != found.number(3) || x.first == 0 || x.first > x.last + 1)
    return {};
  return x;
}

log_extent log_reader::known() const noexcept {
  return {check_.has_end() ? first_ : last_ + 1, last_, 0};
}

void log_reader::forget(std::uint64_t first) {
  runs_.clear();
  order_.clear();
  check_ = {};
  first_ = first;
  last_ = first - 1;
}

void log_reader::refresh() {
  const auto now = extent();
  if (!now) return learn_all();
  // Moving takes all rows, so what was known is all there or all gone.
  const bool anew =
      now->first != first_ || now->last < last_ || !check_.has_end();
  if (anew) forget(now->first);
  if (last_ == now->last && !anew) return;
  const auto known = std::exchange(last_, now->last);
  check_.begin(now, known);
  learn_rows(known);
}

/// Without an extent: what rows there are.
void log_reader::learn_all() {
  forget(1);
  last_ = last_moved_commit(db_);
  check_.begin({}, 0);
  learn_rows(0);
}

void log_reader::learn_rows(std::uint64_t known) {
  bool is_cut = false;
  try {
    auto found = directories_.query(known);
    while (found.next()) {
      const auto n = found.number(0);
      const auto directory = found.bytes(2);
      if (!check_.on_row(n, is_whole_row(n, directory, found.number(1))))
        continue;
      last_ = std::max(last_, n);
      learn(n, directory);
    }
  } catch (const sqlite::failure& problem) {
    is_cut = problem.is_corrupt();
    if (!is_cut) first_ = 0;  // as if nothing were known: begins anew
    if (!is_cut) throw;
  } catch (...) {
    first_ = 0;
    throw;
  }
  check_.on_end(is_cut);
}

void log_reader::learn(std::uint64_t commit, std::string_view directory) {
  std::uint64_t offset = 0;
  while (!directory.empty()) {
    const auto x = take_entry(directory, "the database");
    auto& run = runs_[x.run];
    run.head = x.head;
    run.commit = commit;
    if (x.size == 0) continue;
    run.parts.push_back(
        {commit, offset, x.size, x.first_seq, x.head.last_seq, x.crc});
    order_.push_back({commit, x.run, x.first_seq, x.head.last_seq});
    offset += x.size;
  }
}

bool log_reader::is_suspect(std::int64_t run) const {
  if (check_.last_bad() == 0) return false;
  const auto i = runs_.find(run);
  return i == runs_.end() || i->second.commit <= check_.last_bad();
}

const head_row* log_reader::head(std::int64_t run) const {
  const auto i = runs_.find(run);
  return i == runs_.end() ? nullptr : &i->second.head;
}

const log_reader::part* log_reader::find(std::int64_t run,
                                         std::uint64_t seq) const {
  const auto i = runs_.find(run);
  if (i == runs_.end()) return nullptr;
  const auto& parts = i->second.parts;
  const auto x = std::ranges::lower_bound(parts, seq, {}, &part::last_seq);
  return x == parts.end() || x->first_seq > seq ? nullptr : &*x;
}

std::string log_reader::lines(std::int64_t run, const part& x,
                              const std::string& whose) {
  auto found = lines_.query(x.commit);
  const auto name = "row " + std::to_string(x.commit);
  if (!found.next()) bad(whose, "has lost its " + name);
  const auto all = found.bytes(0);
  if (x.offset > all.size() || x.size > all.size() - x.offset)
    bad(whose, "has a " + name + " that is too short");
  const auto lines = all.substr(x.offset, x.size);
  if (crc_of_block(block_key(run, x.first_seq), x.last_seq, lines) != x.crc)
    bad(whose, "has a " + name + " where its events " +
                   std::to_string(x.first_seq) + " to " +
                   std::to_string(x.last_seq) + " fail their checksum");
  return std::string{lines};
}

log_writer::log_writer(sqlite::database& db)
    : reader_{db},
      append_{db,
              "REPLACE INTO commits(n, crc, directory, lines) "
              "VALUES(?, ?, ?, ?)"},
      set_extent_{db,
                  "UPDATE log SET first = ?, last = ?, bytes = ?, crc = ? "
                  "WHERE n = 1"},
      renew_extent_{db,
                    "REPLACE INTO log(n, first, last, bytes, crc) "
                    "VALUES(1, ?, ?, ?, ?)"},
      delete_all_{db, "DELETE FROM commits"} {}

bool log_writer::begin() {
  empty(directory_);
  empty(lines_);
  const auto now = reader_.extent();
  if (now) extent_ = *now;
  return now.has_value();
}

void log_writer::add(log_entry x, std::string_view lines) {
  x.size = lines.size();
  if (x.size != 0)
    x.crc = crc_of_block(block_key(x.run, x.first_seq), x.head.last_seq, lines);
  put(directory_, x);
  lines_.append(lines);
}

void log_writer::end() {
  const auto n = ++extent_.last;
  extent_.bytes += directory_.size() + lines_.size();
  append_.run(n, crc_of_directory(n, directory_), sqlite::blob{directory_},
              sqlite::blob{lines_});
  set_extent_.run(extent_.first, extent_.last, extent_.bytes, crc_of(extent_));
}

void log_writer::clear(std::uint64_t last) {
  delete_all_.run();
  extent_ = {last + 1, last, 0};
  renew_extent_.run(extent_.first, extent_.last, extent_.bytes,
                    crc_of(extent_));
}

}  // namespace riffle::storage
