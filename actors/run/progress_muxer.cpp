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

void progress_muxer_state::on_begun(call_begun& x) {
  merge.on_begun(x.id, x.attempt);
  self->send(peers.publisher, std::move(x.entry));
  apply(merge.take_ready());
}

void progress_muxer_state::on_settled(call_settled& x) {
  const auto token = ++next_token;
  const auto id = x.id;
  const core::settlement settled{id, x.attempt, x.last_progress, token};
  held.emplace(token, std::move(x));
  apply(merge.on_settled(settled));
  if (held.contains(token))
    self->delayed_send(self, settlement_timeout, give_up_waiting{id});
}

void progress_muxer_state::on_progress(work::progress& x) {
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
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.spec->faults, handler, std::move(f));
  };
  return {
      [&st](run_peers& x) { st.peers = std::move(x); },
      [&st, run](turn_text& x) {
        run("progress_muxer.turn_text",
            [&] { st.self->send(st.peers.publisher, std::move(x)); });
      },
      [&st, run](run_entry& x) {
        run("progress_muxer.run_entry",
            [&] { st.self->send(st.peers.publisher, std::move(x)); });
      },
      [&st, run](call_begun& x) {
        run("progress_muxer.call_begun", [&] { st.on_begun(x); });
      },
      [&st, run](call_settled& x) {
        run("progress_muxer.call_settled", [&] { st.on_settled(x); });
      },
      [&st, run](work::progress& x) {
        run("progress_muxer.progress", [&] { st.on_progress(x); });
      },
      [&st, run](give_up_waiting& x) {
        run("progress_muxer.give_up",
            [&] { st.apply(st.merge.on_give_up(x.id)); });
      },
  };
}

}  // namespace riffle
