// SPDX-License-Identifier: MIT
// The events of all runs, in the order in which they were committed.
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
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

/// Places with it are negative numbers of rows.
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;
/// The same for rows of class 0: the log of commits was moved when it had so
/// many.
constexpr std::uint64_t widest_row = 20'000;
/// How many commits are looked at for a page, unless they brought nothing.
constexpr std::uint64_t page_commits = 20'000;
/// How many are looked at first: many pages are full then.
constexpr std::uint64_t first_commits = 16;

std::uint64_t number_of_run(std::int64_t key) {
  return static_cast<std::uint64_t>(key / block_key(1, 0));
}

/// Of a piece that is left out.
std::uint64_t name_of(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  return (a * odd) ^ std::rotl(b * odd, 32);
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

/// What commits brought behind a place, one after the other; looks at as many
/// commits as it is asked for, and a few more.
class row_reader::feed_walk {
 public:
  feed_walk(row_reader& rows, const feed_place& after, std::uint64_t last,
            const log_extent& log, feed_losses& left_out)
      : rows_{rows},
        after_{after},
        last_{last},
        log_{log},
        left_out_{left_out},
        next_{after == behind(after.commit) ? after.commit + 1 : after.commit} {
  }

  /// Nothing: commits up to `last` brought no more.
  std::optional<feed_item> next() {
    for (;;) {
      while (found_.empty() || found_.front().first.commit >= next_) {
        if (next_ > last_) return {};
        look_at(next_, std::min(last_, next_ + step_ - 1));
        step_ *= 2;
      }
      std::ranges::pop_heap(found_, std::ranges::greater{});
      const auto out = found_.back();
      found_.pop_back();
      if (out.first <= given_) continue;  // two rows say the same
      given_ = {out.first.commit, out.first.run, out.last_seq};
      return out;
    }
  }

 private:
  /// Rows of blocks have also what comes later: it waits in the heap.
  void look_at(std::uint64_t from, std::uint64_t to) {
    if (!std::exchange(begun_, true)) {
      add_rows(from, last_ + widest_row);
      // Of no class: a row that was in one.
      add_rows(feed_place_of(feed_classes, 0), top_bit - 1);
      add_rows(top_bit, ~std::uint64_t{0});
      for (std::uint64_t cls = 1; cls < feed_classes; ++cls)
        add_class(cls, from - std::min(from, feed_width(cls)), to);
    } else {
      for (std::uint64_t cls = 1; cls < feed_classes; ++cls)
        add_class(cls, from, to);
    }
    rows_.log_.for_each_range(from, to, [&](const auto& x) {
      add({x.commit, static_cast<std::uint64_t>(x.run), x.first_seq},
          x.last_seq);
    });
    next_ = to + 1;
  }

  /// Only what was moved lies in rows of several commits.
  void add_class(std::uint64_t cls, std::uint64_t from, std::uint64_t to) {
    if (cls > 1) to = std::min(to, log_.first - 1);
    if (from <= to) add_rows(feed_place_of(cls, from), feed_place_of(cls, to));
  }

  void add_rows(std::uint64_t from, std::uint64_t to) {
    auto rows = rows_.feed_rows_.query(from, to);
    while (rows.next()) {
      try {
        add_row(rows);
      } catch (const damaged&) {
        left_out_.insert(name_of(rows.number(0), rows.number(1)));
      }
    }
  }

  void add_row(const sqlite::rows& row) {
    const auto key = row.integer(1);
    if (crc_of_feed(row.number(0), key) != row.number(2) || row.number(3) == 0)
      throw damaged{whose(), "a row of it is damaged"};
    const auto n = number_of_run(key);
    auto seq = static_cast<std::uint64_t>(
        key - block_key(static_cast<std::int64_t>(n), 0));
    const auto shares = shares_of(key, row.bytes(4), whose());
    if (shares.empty()) throw damaged{whose(), "a row of it leads nowhere"};
    for (const auto& share : shares) {
      add({share.commit, n, seq}, seq + share.events - 1);
      seq += share.events;
    }
  }

  void add(feed_place first, std::uint64_t last_seq) {
    if (first.commit == after_.commit && first.run == after_.run)
      first.seq = std::max(first.seq, after_.seq + 1);
    if (first <= after_ || first.seq > last_seq) return;
    found_.push_back({first, last_seq});
    std::ranges::push_heap(found_, std::ranges::greater{});
  }

  row_reader& rows_;
  const feed_place after_;
  const std::uint64_t last_;
  const log_extent log_;
  feed_losses& left_out_;
  std::uint64_t next_;     ///< the first commit that was not looked at
  feed_place given_ = {};  ///< all up to it was
  std::uint64_t step_ = first_commits;
  bool begun_ = false;
  std::vector<feed_item> found_;  ///< a heap, the earliest in front
};

/// Runs of a page, and the block of each that was read last.
struct row_reader::feed_runs {
  struct one {
    run_row run;
    event_block block;
    std::uint64_t last_seq = 0;  ///< that the page has; 0: none yet
  };
  std::unordered_map<std::uint64_t, one> all;
};

void row_reader::add_item(const feed_item& item, feed_runs& near,
                          feed_page& page, std::size_t& bytes) {
  auto& [run, block, last_seq] = near.all[item.first.run];
  if (run.id.empty()) run = run_of_number(item.first.run);
  auto from = item.first.seq;
  while (from <= item.last_seq) {
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
    page.entries.push_back({{item.first.commit, item.first.run, part.first_seq},
                            run_id{run.id},
                            std::move(part)});
  }
}

/// Whether events of its run should have come between what the page has of the
/// run, or `after`, and this: a row of the order is lost.
bool row_reader::is_behind_hole(const feed_item& item, feed_runs& near,
                                const feed_place& after) {
  auto& last = near.all[item.first.run].last_seq;
  const auto before = std::exchange(last, item.last_seq);
  const auto seq = item.first.seq - 1;
  if (before != 0 || seq == 0) return before != 0 && before != seq;
  // The page begins with it: where is the one before?
  const auto n = static_cast<std::int64_t>(item.first.run);
  auto found = commits_at_.query(block_key(n, 0), block_key(n, seq));
  if (!found.next() || found.number(1) < seq) return false;
  auto at = static_cast<std::uint64_t>(found.integer(0) - block_key(n, 0));
  try {
    for (const auto& x : shares_of(found.integer(0), found.bytes(2), whose())) {
      at += x.events;
      if (at > seq) return feed_place{x.commit, item.first.run, seq} > after;
    }
  } catch (const damaged&) {
    return false;  // whoever comes to it says so
  }
  return false;
}

feed_page row_reader::read_feed_part(const feed_place& after,
                                     std::size_t max_bytes,
                                     const log_extent& extent,
                                     feed_losses& left_out) {
  feed_page page;
  const auto most = extent.last;
  const auto last = std::min(most, after.commit + page_commits);
  page.next = after;
  feed_runs near;
  std::size_t bytes = 0;
  feed_walk walk{*this, after, last, extent, left_out};
  while (bytes < max_bytes || page.entries.empty()) {
    const auto item = walk.next();
    if (!item) break;
    try {
      if (is_behind_hole(*item, near, after))
        left_out.insert(name_of(item->first.run, ~item->first.seq));
      add_item(*item, near, page, bytes);
    } catch (const damaged&) {  // it costs none of the others
      left_out.insert(name_of(item->first.run, item->first.seq));
      page.next = {item->first.commit, item->first.run, item->last_seq};
    }
  }
  if (bytes >= max_bytes && !page.entries.empty()) return page;
  // All of these commits is in the page: whoever has read to the end waits
  // there, where `end_of_feed` is.
  page.next = std::max(page.next, behind(last));
  page.end = last == most;
  return page;
}

feed_page row_reader::read_feed(const feed_place& after, std::size_t max_bytes,
                                feed_losses& left_out) {
  log_.refresh();
  const auto extent = log_.known();
  auto page = read_feed_part(after, max_bytes, extent, left_out);
  while (page.entries.empty() && !page.end)  // what they brought is deleted
    page = read_feed_part(page.next, max_bytes, extent, left_out);
  return page;
}

feed_place row_reader::end_of_feed() {
  if (const auto x = log_.extent()) return behind(x->last);
  log_.refresh();
  return behind(log_.known().last);
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
  log_.refresh();
  const auto* part = log_.find(run.n, 1);
  if (part == nullptr) return {};
  return feed_place{part->commit, n, 0};
}

}  // namespace riffle::storage
