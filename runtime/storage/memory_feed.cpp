// SPDX-License-Identifier: MIT
// The events of all runs, in the order in which they came. Each unit that
// brings some counts as a commit.
#include <algorithm>
#include <utility>

#include "runtime/storage/memory_store.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

feed_page memory_store::read_feed(const feed_place& after,
                                  std::size_t max_bytes) const {
  feed_page page;
  page.next = after;
  std::vector<feed_entry> all;
  for (const auto& [id, run] : runs_) {
    const auto from = std::ranges::lower_bound(run.commits, after.commit);
    for (auto i = from; i != run.commits.end(); ++i) {
      const auto& block =
          run.blocks[static_cast<std::size_t>(i - run.commits.begin())];
      const bool partly = *i == after.commit && run.number == after.run;
      const auto seen = partly ? after.seq : block.first_seq - 1;
      feed_entry x{{*i, run.number, seen + 1}, id, {}};
      if (x.first <= after || block.last_seq <= seen) continue;
      x.block = cut_front(block, seen);
      all.push_back(std::move(x));
    }
  }
  std::ranges::sort(all, {}, &feed_entry::first);
  std::size_t bytes = 0;
  for (auto& x : all) {
    if (bytes >= max_bytes) return page;
    bytes += x.block.lines->size();
    page.next = {x.first.commit, x.first.run, x.block.last_seq};
    page.entries.push_back(std::move(x));
  }
  page.next = std::max(page.next, end_of_feed());
  page.end = true;
  return page;
}

feed_place memory_store::end_of_feed() const {
  return {commits_, last_number_ + 1, 0};
}

expected<feed_place> memory_store::start_in_feed(const run_id& id) const {
  const auto i = runs_.find(id);
  if (i == runs_.end() || i->second.commits.empty())
    return unexpected{error{errc::not_found, "journal.start_in_feed",
                            "there is no run " + id.value}};
  return feed_place{i->second.commits.front(), i->second.number, 0};
}

}  // namespace riffle::storage
