// SPDX-License-Identifier: MIT
#include "runtime/http/feed_source.hpp"

#include <utility>

namespace riffle::http {

feed_source::feed_source(std::shared_ptr<event_hub> hub,
                         storage::feed_place after, feed_request how)
    : hub_{std::move(hub)},
      how_{std::make_shared<const feed_request>(std::move(how))},
      place_{after} {}

feed_source::~feed_source() {
  hub_->remove(this);
  hub_->tail().remove(this);
}

void feed_source::begin(std::function<void()> wake) {
  wake_ = std::move(wake);
  hub_->tail().add(this);
  if (how_->over) hub_->add(this);  // its end is no commit
  wake_();
}

std::string_view feed_source::heartbeat() const {
  return how_->format == event_format::sse ? sse_heartbeat : std::string_view{};
}

void feed_source::on_news() {
  if (waits_ && how_->over && !how_->goes_on()) return pull();
  wake_();
}

std::shared_ptr<const std::string> feed_source::next() {
  if (!std::exchange(opened_, true) && how_->format == event_format::sse)
    return std::make_shared<const std::string>(sse_opening(
        hub_->parts()->retry_ms, how_->tells_place
                                     ? start_of_commit(place_.commit + 1)
                                     : std::string{}));
  if (!ready_.empty()) {
    const auto x = std::move(ready_.front());
    ready_.pop_front();
    return text_of(x);
  }
  if (over_) done_ = true;
  return done_ || pulling_ ? nullptr : from_tail();
}

std::shared_ptr<const std::string> feed_source::from_tail() {
  for (;;) {
    using enum feed_tail::place_is;
    const auto at = hub_->tail().find(place_);
    if (at.where == past || (at.where == unknown && !waits_)) {
      waits_ = false;
      pull();
      return nullptr;
    }
    if (!at.item) {
      waits_ = true;
      return nullptr;
    }
    waits_ = false;
    place_ = at.item->last();
    if (!how_->has || how_->has(*at.item->run)) return text_of(*at.item);
  }
}

std::shared_ptr<const std::string> feed_source::text_of(
    const feed_item& x) const {
  return how_->format == event_format::sse ? x.frames : x.lines;
}

void feed_source::pull() {
  if (std::exchange(pulling_, true)) return;
  const auto parts = hub_->parts();
  parts->feeds->submit([parts, after = place_, how = how_, known = known_,
                        me = weak_from_this()] {
    if (me.expired()) return;  // the client has gone meanwhile
    auto x = std::make_shared<feed_piece>(
        read_piece(*parts->journal, after, how->has, *known));
    bool over = x->end && how->over && !how->goes_on() && how->over();
    // What ended meanwhile brought its last events: they are read first.
    if (over) {
      const auto rest = read_piece(*parts->journal, x->next, how->has, *known);
      over = rest.end && rest.items.empty();
    }
    parts->post([me, x, over] {
      if (const auto it = me.lock()) it->take(std::move(*x), over);
    });
  });
}

void feed_source::take(feed_piece x, bool over) {
  pulling_ = false;
  ready_ = std::move(x.items);
  place_ = x.next;
  broken_ = done_ = x.failed;
  over_ = x.end && over;
  waits_ = x.end;
  wake_();
}

}  // namespace riffle::http
