// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "actors/core/fan_out.hpp"
#include "actors/core/run_status.hpp"
#include "actors/core/text_batcher.hpp"
#include "actors/interfaces.hpp"
#include "actors/run/run_metrics.hpp"
#include "messages/event_line.hpp"

namespace riffle {

/// Batches text, numbers events, appends to the journal, and passes on what
/// was acknowledged. One unit is open, a few are on their way: a batch forms
/// while a commit runs.
struct publisher_state {
  static inline const char* name = "publisher";
  explicit publisher_state(publisher_actor::pointer me);
  ~publisher_state();
  publisher_state(const publisher_state&) = delete;
  publisher_state& operator=(const publisher_state&) = delete;

  void begin(run_spec_ptr run, std::uint64_t last_seq,
             std::uint64_t attempt_seq);
  void on(run_peers& x) { peers = std::move(x); }
  void on(turn_text& x);
  void on(run_entry& x);
  void on(published_progress& x);
  void on(const commit_done& x);
  void on(flush_due&);
  void on(status_due&) { tell_status(); }
  void on(const attach_subscriber& x);

  void emit(const events::body& body);
  void emit_text(bool reasoning, std::string_view content);
  void flush_text();
  void fill_in(events::body& body);
  void fill_in(storage::state_change& change);
  void schedule_flush();
  void schedule_status();
  void tell_status();
  void submit();
  void append(storage::commit_unit unit);
  void give_credit(const stream_consumer_actor& consumer, std::uint64_t bytes);
  void pass_on(const storage::event_block& block);
  void notify(commit_notice& notice);
  void on_settled(settlement_committed& x);
  void fail(const error& why);
  static void count_subscribers(double more) noexcept;

  /// What follows from a commit.
  struct consequences {
    std::optional<storage::event_block> block;
    std::uint64_t last_seq = 0;
    std::vector<commit_notice> notices;
    std::vector<std::pair<call_id, tool_worker_actor>> reports;
    std::uint64_t credit = 0;
    stream_consumer_actor consumer;
    time_point since{};  ///< when it was handed to the journal
  };

  publisher_actor::pointer self;
  run_spec_ptr spec;
  run_peers peers;
  std::optional<event_writer> writer;
  std::optional<core::text_batcher> batcher;
  std::uint64_t last_seq = 0;     ///< numbered
  std::uint64_t sent_seq = 0;     ///< handed to the journal
  std::uint64_t acked_seq = 0;    ///< committed
  std::uint64_t attempt_seq = 0;  ///< of the step_start or step_restarted
  std::uint32_t text_step = 0;
  bool flush_scheduled = false;
  core::run_status status;
  event_meter meter;
  bool status_scheduled = false;
  bool failed = false;
  bool ended = false;  ///< the run's last event is numbered
  /// The open unit: its lines, its changes, what follows from it.
  std::string lines;
  std::vector<storage::state_change> changes;
  consequences then;
  std::vector<consequences> on_their_way;
  stream_consumer_actor credited;
  std::uint64_t owed = 0;  ///< to `credited`
  core::fan_out fan_out;
  std::map<core::subscriber_id, subscriber_ptr> subscribers;
  core::subscriber_id next_subscriber = 0;
};

publisher_actor::behavior_type publisher(
    publisher_actor::stateful_pointer<publisher_state> self, run_spec_ptr spec,
    std::uint64_t last_seq, std::uint64_t attempt_seq);

}  // namespace riffle
