// SPDX-License-Identifier: MIT
#pragma once

// What streams of events are made from: of a run, of a session. On the I/O
// thread alone; each holds a place, and at most one page of the journal.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "runtime/http/event_hub.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/sse.hpp"

namespace riffle::http {

struct stream_request {
  event_format format = event_format::sse;
  std::string id_prefix;  ///< see `to_sse`
  /// False: what there is now, and no more.
  bool follows = true;
  bool opens = true;  ///< begins with `sse_opening`, an array with "["
  bool first = true;  ///< of an array: nothing stands before it
};

/// The events of a run behind `after`, until its end.
class run_source final : public body_source,
                         public channel_reader,
                         public std::enable_shared_from_this<run_source> {
 public:
  run_source(std::shared_ptr<event_hub> hub, run_id run, std::uint64_t after,
             stream_request how);
  ~run_source() override;
  run_source(const run_source&) = delete;
  run_source& operator=(const run_source&) = delete;

  void begin(std::function<void()> wake) override;
  std::shared_ptr<const std::string> next() override;
  [[nodiscard]] bool ended() const override { return done_; }
  [[nodiscard]] bool broken() const override { return broken_; }
  [[nodiscard]] std::string_view heartbeat() const override;
  void on_news() override;

 private:
  std::shared_ptr<const std::string> opening();
  std::shared_ptr<const std::string> from_page();
  std::shared_ptr<const std::string> from_channel();
  /// A copy: with the last block the channel goes, and what it holds.
  std::shared_ptr<const std::string> written(live_block x);
  void pull();
  void take(const expected<storage::event_page>& page);
  void at_end_of_journal();
  void leave_channel();
  void finish();

  const std::shared_ptr<event_hub> hub_;
  const run_id run_;
  const stream_request how_;
  std::uint64_t place_;  ///< last event that was handed out
  std::function<void()> wake_;
  std::shared_ptr<run_channel> channel_;
  std::deque<live_block> page_;
  bool opened_ = false;
  bool first_;  ///< of an array: nothing stands before it
  bool pulling_ = false;
  bool page_is_last_ = false;  ///< the journal had nothing behind the page
  bool elsewhere_ = false;     ///< another process works on it
  bool done_ = false;
  bool broken_ = false;
};

/// The events of all runs of a session, run after run. It does not end.
class session_source final
    : public body_source,
      public channel_reader,
      public std::enable_shared_from_this<session_source> {
 public:
  session_source(std::shared_ptr<event_hub> hub, session_id session,
                 session_place after, event_format format, bool follows);
  ~session_source() override;
  session_source(const session_source&) = delete;
  session_source& operator=(const session_source&) = delete;

  void begin(std::function<void()> wake) override;
  std::shared_ptr<const std::string> next() override;
  [[nodiscard]] bool ended() const override {
    return done_ && (format_ != event_format::array || closed_);
  }
  [[nodiscard]] bool broken() const override { return broken_; }
  [[nodiscard]] std::string_view heartbeat() const override;
  void on_news() override;

 private:
  void look();
  void take(const expected<std::vector<storage::run_record>>& runs);
  void nothing_yet();

  const std::shared_ptr<event_hub> hub_;
  const session_id session_;
  run_id first_;  ///< of the session: another one is another session
  const event_format format_;
  const bool follows_;
  session_place place_;
  std::function<void()> wake_;
  std::shared_ptr<run_source> inner_;
  bool opened_ = false;
  bool empty_ = true;    ///< nothing was handed out yet
  bool closed_ = false;  ///< the array's end was handed out
  bool looking_ = false;
  bool again_ = false;  ///< a run began while it was looked for
  bool done_ = false;
  bool broken_ = false;
};

/// A piece of a file, read on an executor.
class file_source final : public body_source,
                          public std::enable_shared_from_this<file_source> {
 public:
  file_source(std::shared_ptr<const stream_parts> parts, std::string file,
              std::uint64_t offset, std::uint64_t length)
      : parts_{std::move(parts)},
        file_{std::move(file)},
        offset_{offset},
        left_{length} {}

  void begin(std::function<void()> wake) override;
  std::shared_ptr<const std::string> next() override;
  [[nodiscard]] bool ended() const override { return left_ == 0 && !ready_; }
  [[nodiscard]] bool broken() const override { return broken_; }

 private:
  void read();

  const std::shared_ptr<const stream_parts> parts_;
  const std::string file_;
  std::uint64_t offset_;
  std::uint64_t left_;
  std::function<void()> wake_;
  std::shared_ptr<const std::string> ready_;
  bool reading_ = false;
  bool broken_ = false;
};

}  // namespace riffle::http
