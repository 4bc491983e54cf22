// SPDX-License-Identifier: MIT
#include "runtime/http/feed_tail.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/http/sse.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t page_bytes = 256u << 10;

/// What is kept for those that are a little behind.
constexpr std::size_t kept_bytes = 1u << 20;

/// Runs that are remembered.
constexpr std::size_t most_known = 10'000;

}  // namespace

expected<std::shared_ptr<const feed_run>> find_feed_run(
    storage::journal& journal, const run_id& id, known_runs& known) {
  if (const auto at = known.find(id); at != known.end()) return at->second;
  if (known.size() >= most_known) known.clear();
  const auto run = journal.load_run(id);
  if (!run && run.error().code == errc::not_found) return nullptr;
  if (!run && run.error().code == errc::storage_corrupt) {
    log_warn("server", render(run.error()));
    return nullptr;
  }
  if (!run) return unexpected{run.error()};
  auto made = std::make_shared<const feed_run>(
      feed_run{run->session, origin_of(*run).by, volley_of(*run)});
  known.emplace(id, made);
  return made;
}

feed_piece read_piece(storage::journal& journal,
                      const storage::feed_place& after, const feed_filter& has,
                      known_runs& known) {
  feed_piece out;
  out.next = after;
  const auto fail = [&](const error& why) {
    log_warn("server", render(why));
    feed_piece none;
    none.next = after;
    none.failed = true;
    return none;
  };
  const auto page = journal.read_feed(after, page_bytes);
  if (!page) return fail(page.error());
  for (const auto& x : page->entries) {
    auto run = find_feed_run(journal, x.run, known);
    if (!run) return fail(run.error());
    if (*run == nullptr || (has && !has(**run))) continue;
    out.items.push_back(
        {x.first, x.block.last_seq, std::move(*run), x.block.lines,
         std::make_shared<const std::string>(
             to_sse(*x.block.lines, x.block.first_seq, feed_prefix(x.first)))});
  }
  out.next = page->next;
  out.end = page->end;
  return out;
}

void feed_tail::add(channel_reader* x) {
  readers_.insert(x);
  if (!placed_) pull();
}

void feed_tail::add_session(const session_id& session, channel_reader* x) {
  by_session_[session].insert(x);
  if (!placed_) pull();
}

void feed_tail::remove(channel_reader* x) {
  readers_.erase(x);
  rest();
}

void feed_tail::remove_session(const session_id& session, channel_reader* x) {
  const auto at = by_session_.find(session);
  if (at == by_session_.end()) return;
  at->second.erase(x);
  if (at->second.empty()) by_session_.erase(at);
  rest();
}

/// Nobody waits: what is here would only grow old.
void feed_tail::rest() {
  if (!readers_.empty() || !by_session_.empty()) return;
  ++life_;
  placed_ = pulling_ = again_ = false;
  known_ = std::make_shared<known_runs>();  // a job may still use the other
  items_.clear();
  bytes_ = 0;
}

void feed_tail::look() {
  if (!readers_.empty() || !by_session_.empty()) pull();
}

feed_tail::finding feed_tail::find(
    const storage::feed_place& place) const noexcept {
  if (!placed_) return {};
  if (place < from_) return {place_is::past};
  const auto at =
      std::ranges::upper_bound(items_, place, {}, &feed_item::first);
  if (at != items_.begin() && std::prev(at)->last() > place)
    return {place_is::past};  // in the middle of an item
  return {place_is::here, at == items_.end() ? nullptr : &*at};
}

/// One job at a time: the first finds the end, the others what grew there.
void feed_tail::pull() {
  if (std::exchange(pulling_, true)) {
    again_ = true;
    return;
  }
  const auto after = placed_ ? std::optional{to_} : std::nullopt;
  parts_->reads->submit([parts = parts_, after, known = known_, life = life_,
                         me = weak_from_this()] {
    auto x = std::make_shared<feed_piece>();
    if (after) {
      *x = read_piece(*parts->journal, *after, {}, *known);
    } else if (const auto end = parts->journal->end_of_feed()) {
      x->next = *end;
      x->end = true;
    } else {
      x->failed = true;
    }
    parts->post([me, x, life] {
      const auto it = me.lock();
      if (it && it->life_ == life) it->take(*x);
    });
  });
}

void feed_tail::take(const feed_piece& x) {
  pulling_ = false;
  const bool more = std::exchange(again_, false) || !x.end;
  const bool found = !placed_;
  if (x.failed) {  // who follows reads for himself, and learns why
    placed_ = false;
    items_.clear();
    bytes_ = 0;
    return tell({}, true);
  }
  if (found) from_ = x.next;
  placed_ = true;
  std::unordered_set<session_id> begun;
  for (const auto& item : x.items) {
    if (item.first.seq == 1) begun.insert(item.run->session);
    bytes_ += item.lines->size();
    items_.push_back(item);
  }
  to_ = x.next;
  while (bytes_ > kept_bytes && items_.size() > x.items.size()) {
    bytes_ -= items_.front().lines->size();
    from_ = items_.front().last();
    items_.pop_front();
  }
  if (more) pull();
  if (found || !x.items.empty()) tell(begun, found);
}

/// Readers may leave, and come, while they are told.
void feed_tail::tell(const std::unordered_set<session_id>& begun, bool all) {
  const std::vector<channel_reader*> there{readers_.begin(), readers_.end()};
  for (auto* x : there)
    if (readers_.contains(x)) x->on_news();
  tell_of([&](const auto& x) { return all || begun.contains(x); });
}

void feed_tail::gone(const session_id& session) {
  tell_of([&](const auto& x) { return x == session; });
}

void feed_tail::tell_of(const std::function<bool(const session_id&)>& has) {
  std::vector<std::pair<session_id, channel_reader*>> waiting;
  for (const auto& [session, who] : by_session_)
    if (has(session))
      for (auto* x : who) waiting.emplace_back(session, x);
  for (const auto& [session, x] : waiting) {
    const auto at = by_session_.find(session);
    if (at != by_session_.end() && at->second.contains(x)) x->on_news();
  }
}

}  // namespace riffle::http
