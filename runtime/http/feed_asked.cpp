// SPDX-License-Identifier: MIT
#include "runtime/http/feed_asked.hpp"

#include <algorithm>

#include "runtime/http/sse.hpp"

namespace riffle::http {

namespace {

/// The number of a run; 0: it has no place in the order.
std::uint64_t number_of(storage::journal& journal, const run_id& id) {
  const auto at = journal.start_in_feed(id);
  return at ? at->run : 0;
}

/// Whether the run of a place may have been there and be gone: none that is
/// there has its number, and the one before it began earlier. Reads lists of
/// runs, the newest first, until it has come to that one.
expected<bool> may_be_gone(storage::journal& journal,
                           const storage::feed_place& x) {
  constexpr std::size_t page = 1000;
  storage::run_filter next;
  next.limit = page;
  for (;;) {
    const auto runs = journal.list_runs(next);
    if (!runs) return unexpected{runs.error()};
    if (runs->empty()) return true;
    const auto at = std::ranges::partition_point(
        *runs, [&](const auto& y) { return number_of(journal, y.id) > x.run; });
    if (at != runs->end()) {
      const auto start = journal.start_in_feed(at->id);
      return !start || (start->run != x.run && start->commit <= x.commit);
    }
    next.before = runs->back().id;
  }
}

}  // namespace

std::optional<std::optional<storage::feed_place>> asked_feed_place(
    const request& x) {
  using place = std::optional<storage::feed_place>;
  auto text = x.header("last-event-id");
  if (text.empty()) {
    const auto at = x.query.find("after");
    if (at == x.query.end()) return place{};
    text = at->second;
  }
  const auto read = parse_feed_place(text);
  if (!read) return {};
  return place{*read};
}

expected<feed_place_is> judge_feed_place(storage::journal& journal,
                                         const storage::feed_place& x,
                                         const feed_filter& has) {
  using enum feed_place_is;
  const auto end = journal.end_of_feed();
  if (!end) return unexpected{end.error()};
  // Before all that a commit brought: the opening of a stream may say so.
  if (x.run == 0 && x.seq == 0)
    return x.commit <= end->commit + 1 ? known : beyond;
  if (x > *end) return beyond;
  if (x.run == 0 || x.seq == 0) return strange;
  /// What its commit brought of its run behind this event.
  const auto behind = [&](std::uint64_t seq) {
    auto page = journal.read_feed({x.commit, x.run, seq}, 1);
    if (page)
      std::erase_if(page->entries, [&](const auto& y) {
        return y.first.commit != x.commit || y.first.run != x.run;
      });
    return page;
  };
  const auto exact = behind(x.seq - 1);
  if (!exact) return unexpected{exact.error()};
  if (!exact->entries.empty()) {
    const auto& next = exact->entries.front();
    known_runs none;
    const auto found = find_feed_run(journal, next.run, none);
    if (!found) return unexpected{found.error()};
    const auto& run = *found;
    const bool its = next.first.seq == x.seq && run && (!has || has(*run));
    return its ? known : strange;
  }
  // It has others of the run, or the run may be gone.
  const auto others = behind(0);
  if (!others) return unexpected{others.error()};
  if (!others->entries.empty()) return strange;
  const auto gone = may_be_gone(journal, x);
  if (!gone) return unexpected{gone.error()};
  return *gone ? known : strange;
}

}  // namespace riffle::http
