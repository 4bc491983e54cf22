// SPDX-License-Identifier: MIT
#include "runtime/http/event_hub.hpp"

#include <algorithm>
#include <utility>

#include "runtime/http/sse.hpp"
#include "runtime/service/run_end.hpp"

namespace riffle::http {

namespace {

/// What a channel keeps for clients that are a little behind.
constexpr std::size_t kept_bytes = 256u << 10;
/// What the publisher may bring before the I/O thread looks.
constexpr std::size_t inbox_limit = 1u << 20;
constexpr std::size_t page_bytes = 256u << 10;

/// Ticks without a commit of ours until somebody else's is looked for.
constexpr std::uint32_t ticks_of_others = 10;

}  // namespace

const std::shared_ptr<const std::string>& live_block::as_frames() const {
  if (!frames)
    frames = std::make_shared<const std::string>(to_sse(*lines, first_seq, ""));
  return frames;
}

void run_channel::begin() { parts_->attach(run_, shared_from_this()); }

const live_block* run_channel::find(std::uint64_t after) const noexcept {
  const auto at =
      std::ranges::upper_bound(blocks_, after, {}, &live_block::last_seq);
  return at == blocks_.end() || at->first_seq > after + 1 ? nullptr : &*at;
}

std::uint64_t run_channel::position() const {
  const std::lock_guard lock{mutex_};
  return offered_;
}

bool run_channel::offer(const storage::event_block& block) {
  const std::lock_guard lock{mutex_};
  if (gone_) return false;
  if (inbox_bytes_ > inbox_limit || block.first_seq != offered_ + 1) {
    must_pull_ = true;
    tell();
    return false;
  }
  inbox_bytes_ += block.lines->size();
  offered_ = block.last_seq;
  inbox_.push_back(block);
  tell();
  return true;
}

void run_channel::behind() {
  const std::lock_guard lock{mutex_};
  must_pull_ = true;
  tell();
}

void run_channel::closed(const std::optional<error>&) {
  const std::lock_guard lock{mutex_};
  over_ = true;
  tell();
}

/// Under the mutex. One job for all that comes until it runs.
void run_channel::tell() {
  if (std::exchange(told_, true)) return;
  parts_->post([me = shared_from_this()] { me->drain(); });
}

void run_channel::drain() {
  std::vector<storage::event_block> news;
  bool pulls = false;
  {
    const std::lock_guard lock{mutex_};
    told_ = false;
    news.swap(inbox_);
    inbox_bytes_ = 0;
    pulls = std::exchange(must_pull_, false);
    closed_ = over_;
  }
  for (const auto& x : news) keep(x);
  if (pulls && !closed_) pull();
  tell_readers();
}

/// A reader may leave while it is told.
void run_channel::tell_readers() {
  const std::vector<channel_reader*> all{readers_.begin(), readers_.end()};
  for (auto* x : all)
    if (readers_.contains(x)) x->on_news();
}

void run_channel::keep(const storage::event_block& x) {
  if (x.first_seq != seen_ + 1) return;  // it was pulled
  seen_ = x.last_seq;
  bytes_ += x.lines->size();
  blocks_.push_back({x.first_seq, x.last_seq, x.lines, service::is_last(x)});
  while (bytes_ > kept_bytes && blocks_.size() > 1) {
    bytes_ -= blocks_.front().lines->size();
    blocks_.pop_front();
  }
}

/// Reads what the publisher could not bring, then asks for the rest.
void run_channel::pull() {
  parts_->reads->submit([me = shared_from_this(), after = seen_] {
    auto page = me->parts_->journal->read_events(me->run_, after, page_bytes);
    me->parts_->post([me, page = std::move(page)] {
      if (!page) {
        me->closed_ = true;
      } else {
        for (const auto& x : page->blocks) me->keep(x);
        {
          const std::lock_guard lock{me->mutex_};
          me->offered_ = me->seen_;
        }
        if (page->end)
          me->begin();
        else
          me->pull();
      }
      me->tell_readers();
    });
  });
}

std::shared_ptr<run_channel> event_hub::join(const run_id& run,
                                             std::uint64_t after) {
  if (channels_.size() > sweep_at_) {
    std::erase_if(channels_, [](const auto& x) { return x.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, channels_.size() * 2);
  }
  auto& place = channels_[run];
  if (auto there = place.lock(); there && !there->is_closed() && !there->gone())
    return there;
  auto made = std::make_shared<run_channel>(run, after, parts_);
  place = made;
  made->begin();
  return made;
}

void event_hub::tick() {
  if (!nudged_.exchange(false) && ++quiet_ticks_ < ticks_of_others) return;
  quiet_ticks_ = 0;
  tail_->look();
  const std::vector<channel_reader*> all{waiting_.begin(), waiting_.end()};
  for (auto* x : all)
    if (waiting_.contains(x)) x->on_news();
}

}  // namespace riffle::http
