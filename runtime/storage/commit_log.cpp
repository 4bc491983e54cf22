// SPDX-License-Identifier: MIT
#include "runtime/storage/commit_log.hpp"

#include <algorithm>
#include <utility>

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

log_reader::log_reader(sqlite::database& db)
    : extent_{db, "SELECT first, last, bytes, crc FROM log WHERE n = 1"},
      directories_{db,
                   "SELECT n, crc, directory FROM commits WHERE n > ? "
                   "ORDER BY n"},
      lines_{db, "SELECT lines FROM commits WHERE n = ?"} {}

log_extent log_reader::extent(const std::string& whose) {
  auto found = extent_.query();
  if (!found.next()) bad(whose, "has lost its extent");
  const log_extent x{found.number(0), found.number(1), found.number(2)};
  if (crc_of(x) != found.number(3) || x.first > x.last + 1)
    bad(whose, "has an extent that fails its checksum");
  return x;
}

void log_reader::refresh(const std::string& whose) {
  const auto now = extent(whose);
  // Moving takes all rows, so what was known is all there or all gone.
  if (now.first != first_ || now.last < last_) {
    runs_.clear();
    order_.clear();
    first_ = now.first;
    last_ = now.first - 1;
  }
  if (last_ == now.last) return;
  const auto known = std::exchange(last_, now.last);
  try {
    auto at = known;
    auto found = directories_.query(known);
    while (found.next()) {
      if (found.number(0) != ++at)
        bad(whose, "has lost its row " + std::to_string(at));
      if (at > now.last) bad(whose, "has a row behind its end");
      const auto directory = found.bytes(2);
      if (crc_of_directory(at, directory) != found.number(1))
        bad(whose, "has a row " + std::to_string(at) +
                       " whose directory fails its checksum");
      learn(at, directory, whose);
    }
    if (at != now.last)
      bad(whose, "has lost its row " + std::to_string(at + 1));
  } catch (...) {
    first_ = 0;  // as if nothing were known: the next call begins anew
    throw;
  }
}

void log_reader::learn(std::uint64_t commit, std::string_view directory,
                       const std::string& whose) {
  std::uint64_t offset = 0;
  while (!directory.empty()) {
    const auto x = take_entry(directory, whose);
    auto& run = runs_[x.run];
    run.head = x.head;
    if (x.size == 0) continue;
    run.parts.push_back(
        {commit, offset, x.size, x.first_seq, x.head.last_seq, x.crc});
    order_.push_back({commit, x.run, x.first_seq, x.head.last_seq});
    offset += x.size;
  }
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
              "INSERT INTO commits(n, crc, directory, lines) "
              "VALUES(?, ?, ?, ?)"},
      set_extent_{db,
                  "UPDATE log SET first = ?, last = ?, bytes = ?, crc = ? "
                  "WHERE n = 1"},
      delete_all_{db, "DELETE FROM commits"} {}

void log_writer::begin() {
  extent_ = reader_.extent("the database");
  empty(directory_);
  empty(lines_);
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

void log_writer::clear() {
  delete_all_.run();
  extent_.first = extent_.last + 1;
  extent_.bytes = 0;
  set_extent_.run(extent_.first, extent_.last, extent_.bytes, crc_of(extent_));
}

}  // namespace riffle::storage
