// SPDX-License-Identifier: MIT
#pragma once

// Live events for many clients: one subscriber for each run that somebody
// reads, and one copy of each block for all who read it. A client keeps
// nothing but its place: whoever falls behind the last blocks pulls pages from
// the journal, at its own pace.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/run/subscriber.hpp"
#include "runtime/http/feed_tail.hpp"
#include "runtime/http/stream_parts.hpp"

namespace riffle::http {

/// A block of a run as it is sent, shared by all who read it.
struct live_block {
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::shared_ptr<const std::string> lines;
  bool last = false;  ///< the run ends with it
  /// As server-sent events; made for the first who reads them so.
  mutable std::shared_ptr<const std::string> frames{};

  const std::shared_ptr<const std::string>& as_frames() const;
};

/// The end of a run's log, as it grows. All but the half that the publisher
/// calls is on the I/O thread.
class run_channel final : public subscriber,
                          public std::enable_shared_from_this<run_channel> {
 public:
  run_channel(run_id run, std::uint64_t after,
              std::shared_ptr<const stream_parts> parts)
      : run_{std::move(run)}, parts_{std::move(parts)}, offered_{after} {
    seen_ = after;
  }

  void begin();
  void add(channel_reader* x) { readers_.insert(x); }
  /// With the last one the channel goes: a new one is made for who comes then.
  void remove(channel_reader* x) {
    readers_.erase(x);
    if (readers_.empty()) gone_ = true;
  }

  /// The block that holds the event behind `after`; null: it is not here.
  [[nodiscard]] const live_block* find(std::uint64_t after) const noexcept;
  /// The last event that is known.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
  /// Nothing more comes through here.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  // subscriber
  [[nodiscard]] std::uint64_t position() const override;
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;
  [[nodiscard]] bool gone() const override { return gone_; }

 private:
  void tell();
  void drain();
  void pull();
  void tell_readers();
  void keep(const storage::event_block& x);

  const run_id run_;
  const std::shared_ptr<const stream_parts> parts_;

  std::deque<live_block> blocks_;
  std::size_t bytes_ = 0;
  std::uint64_t seen_ = 0;
  bool closed_ = false;
  std::unordered_set<channel_reader*> readers_;

  mutable std::mutex mutex_;  ///< what follows is the publisher's too
  std::vector<storage::event_block> inbox_;
  std::size_t inbox_bytes_ = 0;
  std::uint64_t offered_ = 0;
  bool told_ = false;
  bool over_ = false;
  bool must_pull_ = false;
  std::atomic<bool> gone_ = false;
};

/// The channels of the runs that are read, and the news that something was
/// committed. On the I/O thread, but for `nudge`.
class event_hub : public std::enable_shared_from_this<event_hub> {
 public:
  explicit event_hub(std::shared_ptr<const stream_parts> parts)
      : parts_{std::move(parts)}, tail_{std::make_shared<feed_tail>(parts_)} {}

  /// For a reader that has all up to `after`.
  std::shared_ptr<run_channel> join(const run_id& run, std::uint64_t after);

  /// Something was committed, by whomever. Any thread; cheap.
  void nudge() noexcept { nudged_ = true; }
  /// Wakes who waits for commits, if there were any, or each `nth` time.
  void tick();
  void add(channel_reader* x) { waiting_.insert(x); }
  void remove(channel_reader* x) { waiting_.erase(x); }

  [[nodiscard]] const std::shared_ptr<const stream_parts>& parts()
      const noexcept {
    return parts_;
  }
  /// The end of the order of all runs.
  [[nodiscard]] feed_tail& tail() const noexcept { return *tail_; }

 private:
  const std::shared_ptr<const stream_parts> parts_;
  const std::shared_ptr<feed_tail> tail_;
  std::unordered_map<run_id, std::weak_ptr<run_channel>> channels_;
  std::unordered_set<channel_reader*> waiting_;
  std::size_t sweep_at_ = 64;
  std::uint32_t quiet_ticks_ = 0;
  std::atomic<bool> nudged_ = false;
};

}  // namespace riffle::http
