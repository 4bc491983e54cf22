// SPDX-License-Identifier: MIT
#include "runtime/http/feed_source.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t page_bytes = 256u << 10;

/// Runs whose answer is remembered.
constexpr std::size_t most_known = 10'000;

}  // namespace

feed_source::feed_source(std::shared_ptr<event_hub> hub,
                         storage::feed_place after, feed_request how)
    : hub_{std::move(hub)}, how_{std::move(how)}, place_{after} {}

feed_source::~feed_source() { hub_->remove(this); }

void feed_source::begin(std::function<void()> wake) {
  wake_ = std::move(wake);
  pull();
}

std::string_view feed_source::heartbeat() const {
  return how_.format == event_format::sse ? sse_heartbeat : std::string_view{};
}

std::shared_ptr<const std::string> feed_source::next() {
  if (!std::exchange(opened_, true) && how_.format == event_format::sse)
    return std::make_shared<const std::string>(
        sse_opening(hub_->parts()->retry_ms));
  if (!ready_.empty()) {
    auto x = std::move(ready_.front());
    ready_.pop_front();
    return x;
  }
  if (over_) done_ = true;
  if (!done_ && !pulling_ && !at_end_) pull();
  return nullptr;
}

feed_source::piece feed_source::read(storage::journal& journal,
                                     const storage::feed_place& after,
                                     const feed_request& how,
                                     known_runs& known) {
  piece out;
  out.next = after;
  // Before the page: what ends meanwhile is in the next one.
  const bool over = how.over && how.over();
  const auto page = journal.read_feed(after, page_bytes);
  if (!page) {
    log_warn("server", render(page.error()));
    out.failed = true;
    return out;
  }
  if (known.size() > most_known) known.clear();
  for (const auto& x : page->entries) {
    auto at = known.find(x.run);
    if (at == known.end()) {
      const auto run = journal.load_run(x.run);
      at = known.emplace(x.run, run && how.has(*run)).first;
    }
    if (!at->second) continue;
    out.texts.push_back(
        how.format == event_format::sse
            ? std::make_shared<const std::string>(to_sse(
                  *x.block.lines, x.block.first_seq, feed_prefix(x.first)))
            : x.block.lines);
  }
  out.next = page->next;
  out.end = page->end;
  out.over = page->end && over;
  return out;
}

void feed_source::pull() {
  if (!ready_.empty() || std::exchange(pulling_, true)) return;
  hub_->remove(this);
  at_end_ = false;
  const auto parts = hub_->parts();
  parts->reads->submit([parts, after = place_, how = how_, known = known_,
                        me = weak_from_this()] {
    auto x = std::make_shared<piece>(read(*parts->journal, after, how, *known));
    parts->post([me, x] {
      if (const auto it = me.lock()) it->take(std::move(*x));
    });
  });
}

void feed_source::take(piece x) {
  pulling_ = false;
  ready_ = std::move(x.texts);
  place_ = x.next;
  broken_ = done_ = x.failed;
  over_ = x.over;
  at_end_ = x.end;
  if (at_end_ && !over_) hub_->add(this);
  wake_();
}

}  // namespace riffle::http
