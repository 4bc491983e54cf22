// SPDX-License-Identifier: MIT
#pragma once

// Events of many runs in the order in which they were committed: of all that a
// caller may see, or of a volley. On the I/O thread alone; holds a page at
// most: who has come to the end reads what `feed_tail` has.

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "runtime/http/event_hub.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/sse.hpp"

namespace riffle::http {

struct feed_request {
  event_format format = event_format::sse;
  /// It begins at the end: who has seen no event of it comes back to here.
  bool tells_place = false;
  /// Whose events it has; any thread, must not block.
  feed_filter has;
  /// False: there may be no more, ask `over`; must not block. Null: it does
  /// not end.
  std::function<bool()> goes_on;
  /// Nothing more comes; asked before the end of the order is read, on a
  /// thread that may block.
  std::function<bool()> over;
};

class feed_source final : public body_source,
                          public channel_reader,
                          public std::enable_shared_from_this<feed_source> {
 public:
  feed_source(std::shared_ptr<event_hub> hub, storage::feed_place after,
              feed_request how);
  ~feed_source() override;
  feed_source(const feed_source&) = delete;
  feed_source& operator=(const feed_source&) = delete;

  void begin(std::function<void()> wake) override;
  std::shared_ptr<const std::string> next() override;
  [[nodiscard]] bool ended() const override { return done_; }
  [[nodiscard]] bool broken() const override { return broken_; }
  [[nodiscard]] std::string_view heartbeat() const override;
  void on_news() override;

 private:
  std::shared_ptr<const std::string> from_tail();
  std::shared_ptr<const std::string> text_of(const feed_item& x) const;
  void pull();
  void take(feed_piece x, bool over);

  const std::shared_ptr<event_hub> hub_;
  const std::shared_ptr<const feed_request> how_;
  storage::feed_place place_;
  std::function<void()> wake_;
  std::deque<feed_item> ready_;
  std::shared_ptr<known_runs> known_ = std::make_shared<known_runs>();
  bool opened_ = false;
  bool pulling_ = false;
  bool waits_ = false;  ///< at the end: for the tail, not the journal
  bool over_ = false;
  bool done_ = false;
  bool broken_ = false;
};

}  // namespace riffle::http
