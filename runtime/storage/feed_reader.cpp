// SPDX-License-Identifier: MIT
// The events of all runs, in the order in which they were committed.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/storage/block_rows.hpp"
#include "runtime/storage/row_reader.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

namespace {

const std::string& whose() {
  static const std::string all = "the order of all runs";
  return all;
}

/// Most commits between the first and the last one of a row of `blocks`: the
/// log of commits is moved when it has so many.
constexpr std::uint64_t widest_row = 20'000;
/// How many commits are looked at for a page.
constexpr std::uint64_t page_commits = 20'000;

std::uint64_t number_of_run(std::int64_t key) {
  return static_cast<std::uint64_t>(key / block_key(1, 0));
}

/// All of a commit is before it.
feed_place behind(std::uint64_t commit) {
  return {commit, static_cast<std::uint64_t>(max_runs), 0};
}

/// Lines `first` to `last` of a block that has them.
event_block cut(const event_block& x, std::uint64_t first, std::uint64_t last) {
  auto out = cut_front(x, first - 1);
  if (out.last_seq <= last) return out;
  std::size_t end = 0;
  for (auto seq = first; seq <= last; ++seq)
    end = out.lines->find('\n', end) + 1;
  return {first, last,
          std::make_shared<const std::string>(out.lines->substr(0, end))};
}

}  // namespace

run_row row_reader::run_of_number(std::uint64_t n) {
  auto found = run_by_number_.query(n);
  if (!found.next())
    throw damaged{whose(), "it has events of a run that is lost"};
  return read_run(found, whose());
}

/// All that commits up to `last` brought, sorted.
std::vector<row_reader::feed_item> row_reader::feed_items(
    const feed_place& after, std::uint64_t last) {
  std::vector<feed_item> all;
  const auto add = [&](feed_place first, std::uint64_t last_seq) {
    if (first.commit > last) return;
    if (first.commit == after.commit && first.run == after.run)
      first.seq = std::max(first.seq, after.seq + 1);
    if (first > after && first.seq <= last_seq)
      all.push_back({first, last_seq});
  };
  auto rows = feed_rows_.query(after.commit, last + widest_row);
  while (rows.next()) {
    const auto key = rows.integer(1);
    if (crc_of_feed(rows.number(0), key) != rows.number(2) ||
        rows.number(3) == 0)
      throw damaged{whose(), "a row of it is damaged"};
    const auto n = number_of_run(key);
    auto seq = static_cast<std::uint64_t>(
        key - block_key(static_cast<std::int64_t>(n), 0));
    for (const auto& share : shares_of(key, rows.bytes(4), whose())) {
      add({share.commit, n, seq}, seq + share.events - 1);
      seq += share.events;
    }
  }
  log_.refresh(whose());
  log_.for_each_part(after.commit, [&](std::int64_t n, const auto& part) {
    add({part.commit, static_cast<std::uint64_t>(n), part.first_seq},
        part.last_seq);
  });
  std::ranges::sort(all);
  return all;
}

feed_page row_reader::read_feed(const feed_place& after,
                                std::size_t max_bytes) {
  feed_page page;
  const auto most = end_of_feed().commit;
  const auto last = std::min(most, after.commit + page_commits);
  page.next = after;
  std::unordered_map<std::uint64_t, event_block> near;
  std::size_t bytes = 0;
  for (const auto& item : feed_items(after, last)) {
    if (bytes >= max_bytes) return page;
    const auto run = run_of_number(item.first.run);
    auto from = item.first.seq;
    while (from <= item.last_seq) {
      auto& block = near[item.first.run];
      if (!block.lines || block.first_seq > from || block.last_seq < from) {
        auto found = read_events(run, from - 1, 1);
        if (found.blocks.empty())
          throw damaged{whose(), "events of run " + run.id + " are lost"};
        block = found.blocks.front();
      }
      auto part = cut(block, from, std::min(item.last_seq, block.last_seq));
      bytes += part.lines->size();
      from = part.last_seq + 1;
      page.next = {item.first.commit, item.first.run, part.last_seq};
      page.entries.push_back(
          {{item.first.commit, item.first.run, part.first_seq},
           run_id{run.id},
           std::move(part)});
    }
  }
  if (last > page.next.commit) page.next = behind(last);
  page.end = last == most;
  return page;
}

feed_place row_reader::end_of_feed() {
  return behind(log_.extent(whose()).last);
}

std::optional<feed_place> row_reader::start_in_feed(const run_row& run) {
  const auto n = static_cast<std::uint64_t>(run.n);
  {
    auto at = first_commits_.query(block_key(run.n, 1));
    if (at.next()) {
      const auto shares = shares_of(block_key(run.n, 1), at.bytes(0), whose());
      if (shares.empty()) return {};
      return feed_place{shares.front().commit, n, 0};
    }
  }
  log_.refresh(whose());
  const auto* part = log_.find(run.n, 1);
  if (part == nullptr) return {};
  return feed_place{part->commit, n, 0};
}

}  // namespace riffle::storage
