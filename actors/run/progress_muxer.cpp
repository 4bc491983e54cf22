// SPDX-License-Identifier: MIT
#include "actors/run/progress_muxer.hpp"

#include "actors/handler.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/redaction.hpp"

namespace riffle {

progress_muxer_state::~progress_muxer_state() {
  if (spec && merge.dropped() > 0 && log_enabled(log_level::info))
    log_run(log_level::info, spec->run,
            std::to_string(merge.dropped()) +
                " progress reports came too late and were dropped");
}

void progress_muxer_state::on(call_begun& x) {
  merge.on_begun(x.id, x.attempt);
  self->send(peers.publisher, std::move(x.entry));
  apply(merge.take_ready());
}

void progress_muxer_state::on(call_settled& x) {
  const auto token = ++next_token;
  const auto id = x.id;
  const core::settlement settled{id, x.attempt, x.last_progress, token};
  held.emplace(token, std::move(x));
  apply(merge.on_settled(settled));
  if (held.contains(token))
    self->delayed_send(self, settlement_timeout, give_up_waiting{id});
}

void progress_muxer_state::on(work::progress& x) {
  auto from = caf::actor_cast<tool_worker_actor>(self->current_sender());
  const auto id = x.id;
  const auto attempt = x.attempt;
  const auto dropped = merge.dropped();
  redact(x.report);
  workers[id] = from;
  apply(merge.on_progress(std::move(x)));
  if (merge.dropped() != dropped) {
    self->send(from, work::ack{id});  // nothing will be committed for it
    workers.erase(id);
    return;
  }
  self->send(peers.dispatcher, work_progressed{id, attempt});
}

void progress_muxer_state::apply(core::progress_merge::out out) {
  for (auto& report : out.progress) {
    const auto i = workers.find(report.id);
    auto from = i == workers.end() ? tool_worker_actor{} : i->second;
    self->send(peers.publisher,
               published_progress{std::move(report), std::move(from)});
  }
  for (const auto token : out.settled) {
    auto i = held.find(token);
    if (i == held.end()) continue;
    workers.erase(i->second.id);
    self->send(peers.publisher, std::move(i->second.entry));
    held.erase(i);
  }
}

progress_muxer_actor::behavior_type progress_muxer(
    progress_muxer_actor::stateful_pointer<progress_muxer_state> self,
    run_spec_ptr spec) {
  log_exceptions(self);
  auto& st = self->state;
  st.spec = std::move(spec);
  return {
      handle<run_peers>(self, "progress_muxer.run_peers"),
      handle<turn_text>(self, "progress_muxer.turn_text"),
      handle<run_entry>(self, "progress_muxer.run_entry"),
      handle<call_begun>(self, "progress_muxer.call_begun"),
      handle<call_settled>(self, "progress_muxer.call_settled"),
      handle<work::progress>(self, "progress_muxer.progress"),
      handle<give_up_waiting>(self, "progress_muxer.give_up"),
  };
}

}  // namespace riffle
