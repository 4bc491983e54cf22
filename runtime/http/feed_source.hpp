// SPDX-License-Identifier: MIT
#pragma once

// Events of many runs in the order in which they were committed: of all that a
// caller may see, or of a volley. On the I/O thread alone; holds a page.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/http/event_hub.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/sse.hpp"

namespace riffle::http {

struct feed_request {
  event_format format = event_format::sse;
  /// Whose events it has; asked once for each run, on a thread that may block.
  std::function<bool(const storage::run_record&)> has;
  /// Nothing more comes, asked at the end of the order, on such a thread too;
  /// null: it does not end.
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
  void on_news() override { pull(); }

 private:
  /// What a page gives, made where it may block.
  struct piece {
    std::deque<std::shared_ptr<const std::string>> texts;
    storage::feed_place next;
    bool end = false;
    bool over = false;
    bool failed = false;
  };
  using known_runs = std::unordered_map<run_id, bool>;

  void pull();
  void take(piece x);
  static piece read(storage::journal& journal, const storage::feed_place& after,
                    const feed_request& how, known_runs& known);

  const std::shared_ptr<event_hub> hub_;
  const feed_request how_;
  storage::feed_place place_;
  std::function<void()> wake_;
  std::deque<std::shared_ptr<const std::string>> ready_;
  /// Of the one job that reads.
  std::shared_ptr<known_runs> known_ = std::make_shared<known_runs>();
  bool opened_ = false;
  bool pulling_ = false;
  bool at_end_ = false;
  bool over_ = false;
  bool done_ = false;
  bool broken_ = false;
};

}  // namespace riffle::http
