// SPDX-License-Identifier: MIT
#include "actors/run/publisher.hpp"

#include <algorithm>
#include <utility>

#include "actors/handler.hpp"
#include "actors/run/run_log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

/// Units that may be on their way to the journal at once: one commits, one
/// waits for the next group.
constexpr std::size_t max_on_their_way = 2;

/// A small part of `model_credit`.
constexpr std::uint64_t credit_portion = 32u << 10;

/// Changes and notices that room is made for before they are there.
constexpr std::size_t most_expected = 64;

core::batching to_batching(const std::string& text) {
  if (text == "token") return core::batching::token;
  if (text == "adaptive") return core::batching::adaptive;
  return core::batching::sentence;
}

}  // namespace

publisher_state::publisher_state(publisher_actor::pointer me) : self{me} {}

void publisher_state::begin(run_spec_ptr run, std::uint64_t last,
                            std::uint64_t attempt) {
  spec = std::move(run);
  last_seq = sent_seq = acked_seq = last;
  attempt_seq = attempt;
  writer.emplace(spec->run);
  batcher.emplace(to_batching(spec->publish.batching),
                  spec->publish.flush_delay);
  if (!spec->plan) meter.set_agent(spec->agent_name);
}

// -- what becomes events ------------------------------------------------------

void publisher_state::on(turn_text& x) {
  writer->set_time(spec->wall());
  text_step = x.step;
  if (!x.pieces.pieces.empty()) {
    const auto kind = x.pieces.pieces.back().kind;
    status.on_text(kind == piece_kind::reasoning, self->clock().now());
  }
  if (!spec->agent.silent)
    batcher->add(
        x.pieces, self->clock().now(),
        [this](bool reasoning, std::string_view content) {
          emit_text(reasoning, content);
        },
        x.whole);
  then.credit += x.bytes;
  then.consumer = caf::actor_cast<stream_consumer_actor>(x.consumer);
  schedule_flush();
  schedule_status();
  submit();
}

void publisher_state::on(run_entry& x) {
  if (ended) return;  // a decision that came too late for the log
  ended = std::holds_alternative<end_committed>(x.notice);
  if (!x.events.empty()) {
    writer->set_time(spec->wall());
    flush_text();
  }
  for (auto& body : x.events) {
    fill_in(body);
    log_event(spec->run, spec->session, body);
    for (auto& text : status.last_notices(body))
      emit(events::body{events::status{std::move(text)}});
    // A status has its own pace.
    if (!std::holds_alternative<events::status>(body)) emit(body);
    status.on(body, self->clock().now());
  }
  for (auto& change : x.changes) {
    fill_in(change);
    changes.push_back(std::move(change));
  }
  if (!std::holds_alternative<std::monostate>(x.notice))
    then.notices.push_back(std::move(x.notice));
  schedule_status();
  submit();
}

void publisher_state::on(published_progress& x) {
  writer->set_time(spec->wall());
  flush_text();
  then.reports.emplace_back(x.body.id, std::move(x.from));
  emit(events::body{std::move(x.body)});
  submit();
}

void publisher_state::emit(const events::body& body) {
  meter.take(body, self->clock().now());
  writer->add(lines, ++last_seq, body);
}

void publisher_state::emit_text(bool reasoning, std::string_view content) {
  writer->add_text(lines, ++last_seq, reasoning, content, text_step);
}

void publisher_state::flush_text() {
  batcher->flush([this](bool reasoning, std::string_view content) {
    emit_text(reasoning, content);
  });
}

/// What only the one who numbers events can know.
void publisher_state::fill_in(events::body& body) {
  if (auto* x = std::get_if<events::step_restarted>(&body)) {
    x->first_seq = attempt_seq;
    x->last_seq = last_seq;
    attempt_seq = last_seq + 1;
  } else if (std::holds_alternative<events::step_start>(body)) {
    attempt_seq = last_seq + 1;
  }
}

void publisher_state::fill_in(storage::state_change& change) {
  if (auto* x = std::get_if<storage::run_record>(&change))
    x->attempt_seq = attempt_seq;
}

void publisher_state::schedule_flush() {
  const auto due = batcher->due();
  if (!due || flush_scheduled) return;
  flush_scheduled = true;
  self->scheduled_send(self, *due, flush_due{});
}

void publisher_state::schedule_status() {
  const auto due = status.due();
  if (due && *due <= self->clock().now()) return tell_status();
  if (!due || status_scheduled) return;
  status_scheduled = true;
  self->scheduled_send(self, *due, status_due{});
}

void publisher_state::on(flush_due&) {
  flush_scheduled = false;
  writer->set_time(spec->wall());
  flush_text();
  submit();
}

void publisher_state::tell_status() {
  status_scheduled = false;
  if (auto text = status.take(self->clock().now())) {
    // Text that waits for the end of its sentence goes on waiting.
    writer->set_time(spec->wall());
    emit(events::body{events::status{std::move(*text)}});
    submit();
  }
  schedule_status();
}

// -- the way to the journal and back ------------------------------------------

void publisher_state::submit() {
  if (failed || on_their_way.size() >= max_on_their_way) return;
  const bool nothing = lines.empty() && changes.empty() &&
                       then.notices.empty() && then.credit == 0;
  if (nothing) return;
  storage::commit_unit unit{spec->run, {}, std::exchange(changes, {})};
  // As many more of them as these; a record is dear to move.
  changes.reserve(std::min(unit.changes.size(), most_expected));
  if (!lines.empty()) {
    const auto size = lines.size();
    unit.block = storage::event_block{
        sent_seq + 1, last_seq,
        std::make_shared<const std::string>(std::exchange(lines, {}))};
    lines.reserve(std::min<std::size_t>(size, 64u << 10));
    sent_seq = last_seq;
  }
  then.block = unit.block;
  then.last_seq = sent_seq;
  then.since = self->clock().now();
  const auto notices = then.notices.size();
  on_their_way.push_back(std::exchange(then, {}));
  then.notices.reserve(std::min(notices, most_expected));
  append(std::move(unit));
}

void publisher_state::append(storage::commit_unit unit) {
  if (spec->journal->acknowledges_at_once()) {
    commit_done done;
    spec->journal->append(std::move(unit), [&done](std::optional<error> why) {
      done.failure = std::move(why);
    });
    on(done);
    return;
  }
  auto me = caf::actor_cast<publisher_actor>(self);
  spec->journal->append(std::move(unit), [me](std::optional<error> why) {
    caf::anon_send(me, commit_done{std::move(why)});
  });
}

void publisher_state::on(const commit_done& x) {
  if (failed || on_their_way.empty()) return;
  if (x.failure) {
    fail(*x.failure);
    return;
  }
  auto done = std::move(on_their_way.front());
  on_their_way.erase(on_their_way.begin());
  acked_seq = done.last_seq;
  if (metrics_are_read())
    measure(
        metric::commit_duration,
        std::chrono::duration<double>(self->clock().now() - done.since).count(),
        {});
  if (done.block) pass_on(*done.block);
  for (auto& [id, worker] : done.reports)
    if (worker) self->send(worker, work::ack{id});
  if (done.consumer) give_credit(done.consumer, done.credit);
  for (auto& notice : done.notices) notify(notice);
  submit();
}

/// In portions: the window is wide, and a message for each token would cost
/// more than the token.
void publisher_state::give_credit(const stream_consumer_actor& consumer,
                                  std::uint64_t bytes) {
  if (consumer != credited) {
    credited = consumer;
    owed = 0;
  }
  owed += bytes;
  if (owed < credit_portion) return;
  self->send(consumer, credit{std::exchange(owed, 0)});
}

void publisher_state::notify(commit_notice& notice) {
  if (auto* x = std::get_if<intent_committed>(&notice))
    self->send(peers.dispatcher, std::move(*x));
  else if (auto* y = std::get_if<settlement_committed>(&notice))
    on_settled(*y);
  else if (std::holds_alternative<drain_committed>(notice))
    self->send(peers.orchestrator, drain_committed{});
  else if (auto* z = std::get_if<request_committed>(&notice))
    self->send(peers.tracker, std::move(*z));
  else if (std::holds_alternative<end_committed>(notice))
    self->send(peers.orchestrator, end_committed{});
}

void publisher_state::on_settled(settlement_committed& x) {
  if (peers.work) peers.work->let_go(x.call.call.id);
  self->send(peers.orchestrator, std::move(x));
}

void publisher_state::fail(const error& why) {
  failed = true;
  log_run(log_level::info, spec->run, "cannot be stored: " + render_chain(why));
  for (auto& [id, who] : subscribers) who->closed(why);
  count_subscribers(-static_cast<double>(subscribers.size()));
  subscribers.clear();
  self->send(peers.registry, run_broken{spec->run, why});
}

// -- readers ------------------------------------------------------------------

void publisher_state::pass_on(const storage::event_block& block) {
  std::vector<core::subscriber_id> refused;
  fan_out.on_acked(block.first_seq, block.last_seq, [&](auto id) {
    if (!subscribers.at(id)->offer(block)) refused.push_back(id);
  });
  for (const auto id : refused) {
    fan_out.on_refused(id);
    fan_out.detach(id);
    subscribers.erase(id);
    count_subscribers(-1);
  }
}

void publisher_state::count_subscribers(double more) noexcept {
  if (more != 0) measure(metric::subscribers, more, {});
}

publisher_state::~publisher_state() {
  count_subscribers(-static_cast<double>(subscribers.size()));
}

void publisher_state::on(const attach_subscriber& x) {
  const auto id = ++next_subscriber;
  if (fan_out.attach(id, x.who->position(), acked_seq) ==
      core::reader_state::live) {
    subscribers.emplace(id, x.who);
    count_subscribers(1);
    return;
  }
  fan_out.detach(id);
  x.who->behind();
}

publisher_actor::behavior_type publisher(
    publisher_actor::stateful_pointer<publisher_state> self, run_spec_ptr spec,
    std::uint64_t last_seq, std::uint64_t attempt_seq) {
  log_exceptions(self);
  auto& st = self->state;
  st.begin(std::move(spec), last_seq, attempt_seq);
  return {
      handle<run_peers>(self, "publisher.run_peers"),
      handle<turn_text>(self, "publisher.turn_text"),
      handle<run_entry>(self, "publisher.run_entry"),
      handle<published_progress>(self, "publisher.progress"),
      handle<commit_done>(self, "publisher.commit_done"),
      handle<flush_due>(self, "publisher.flush_due"),
      handle<status_due>(self, "publisher.status_due"),
      handle<attach_subscriber>(self, "publisher.attach"),
  };
}

}  // namespace riffle
