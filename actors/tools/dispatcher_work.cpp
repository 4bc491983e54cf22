// SPDX-License-Identifier: MIT
// What comes back from workers, or does not.
#include <utility>
#include <vector>

#include "actors/cluster/node_board.hpp"
#include "actors/core/circuit_breaker.hpp"
#include "actors/core/dispatch_detail.hpp"
#include "actors/core/wait_notice.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/call_records.hpp"
#include "actors/tools/dispatcher.hpp"
#include "actors/tools/redaction.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

void dispatcher_state::came_back(const call_id& id, std::uint32_t attempt) {
  const auto i = at_pools.find(id);
  if (i == at_pools.end() || i->second.attempt != attempt) return;
  peers.work->take_back(peers.epoch, id, attempt);
  at_pools.erase(i);
}

/// The journal had refused its settlement.
void dispatcher_state::take_kept(core::restored_call& open) {
  // What is to begin again under its number has another result.
  if (!open.begun) return peers.work->let_go(open.call.id);
  const auto kept = peers.work->find_kept(open.call.id, open.attempt);
  if (!kept) return;
  open.known = {kept, &kept->result};
  notes[open.call.id].state = kept->state;
  const auto& why = kept->result.err;
  end_attempt(open.call.id, why ? why->message : "");
}

/// Until it is on record: a call that must not run again has one result.
void dispatcher_state::keep(const core::settle_call& x) {
  const bool repeats =
      x.call.control || core::dispatch_detail::may_repeat(x.call);
  if (x.attempt == 0 || repeats) return;
  const auto& id = x.call.id;
  peers.work->keep(id, {x.attempt, x.result,
                        arriving.of == id ? arriving.state : notes[id].state});
}

/// A call that did not begin never will: it is taken back. What began is being
/// stopped by its worker, which says how it ended.
void dispatcher_state::on(pool_replaced& x) {
  if (x.pool)
    peers.pools.insert_or_assign(x.tool, x.pool);
  else
    peers.pools.erase(x.tool);
  std::vector<work::lost> lost;
  for (const auto& [id, work] : at_pools) {
    if (work.tool != x.tool || (x.died && work.pool != x.died)) continue;
    if (peers.work->take_back(peers.epoch, id, work.attempt))
      lost.push_back({id, work.attempt, "its worker pool failed: " + x.reason});
    else
      self->delayed_send(self, abandon_timeout(id),
                         orphan_due{id, work.attempt});
  }
  for (auto& call : lost) on(call);
}

duration dispatcher_state::abandon_timeout(const call_id& id) const {
  const auto of = notes.find(id);
  const bool at_node = of != notes.end() && of->second.node &&
                       !of->second.node->value_or("").empty();
  return at_node ? limits.abandon_at_node : limits.abandon_after;
}

void dispatcher_state::on(orphan_due& x) {
  const auto i = at_pools.find(x.id);
  if (i == at_pools.end() || i->second.attempt != x.attempt) return;
  work::lost lost{x.id, x.attempt, "its worker and its worker pool failed"};
  on(lost);
}

void dispatcher_state::on(work::done& x) {
  came_back(x.id, x.attempt);
  redact(x.result);
  if (x.moved && x.result.err && x.result.err->code == errc::tool_unavailable) {
    const bool elsewhere = !spec->nodes || spec->nodes->on_refused(x.id);
    // Its tool is tried again there when its time has come, and not before.
    x.moved = elsewhere || x.result.err->op != core::circuit_breaker::op;
    if (x.moved)
      return apply(queue.on_moved(x.id, x.attempt, now(), *x.result.err));
  }
  if (x.moved) return apply(queue.on_moved(x.id, x.attempt, now()));
  take_result({x.id, std::move(x.state), {}, {}}, x.attempt,
              std::move(x.result), x.last_progress);
}

void dispatcher_state::on(control_done& x) {
  take_result({x.id, {}, std::move(x.answer), std::move(x.more)}, x.attempt,
              std::move(x.result), 0);
}

void dispatcher_state::take_result(result_extras extras, std::uint32_t attempt,
                                   call_result result,
                                   std::optional<std::uint64_t> last_progress) {
  const auto late = queue.late();
  const auto id = extras.of;
  arriving = std::move(extras);
  apply(queue.on_result(id, attempt, std::move(result), last_progress, now()));
  arriving = {};
  log_late(late, id, attempt);
}

/// Settled already, or of an older attempt; `before`: how many were late.
void dispatcher_state::log_late(std::uint64_t before, const call_id& id,
                                std::uint32_t attempt) const {
  if (queue.late() == before) return;
  log_run(log_level::info, spec->run,
          "call " + id.value + ": the answer of attempt " +
              std::to_string(attempt) + " came too late and is dropped (" +
              std::to_string(queue.late()) + " so far)");
}

/// A worker may die without its work: then that keeps what it touches, and no
/// other attempt begins beside it.
void dispatcher_state::on(work::lost& x) {
  const auto i = at_pools.find(x.id);
  const bool acts = i != at_pools.end() && i->second.attempt == x.attempt &&
                    peers.work->still_acts(x.id, x.attempt);
  came_back(x.id, x.attempt);
  log_run(log_level::info, spec->run,
          "call " + x.id.value + ": attempt " + std::to_string(x.attempt) +
              " was lost: " + x.reason +
              (acts ? "; it still acts, and keeps what it touches" : ""));
  const auto late = queue.late();
  if (acts)
    apply(queue.on_work_orphaned(x.id, x.attempt, x.reason, now()));
  else
    apply(queue.on_worker_lost(x.id, x.attempt, std::move(x.reason), now()));
  log_late(late, x.id, x.attempt);
}

/// What its pool had comes back from there, if that lives.
void dispatcher_state::on(pool_of_node& x) {
  if (!x.failure.empty()) {
    pool_replaced other{x.key, x.failure, x.pool, x.died};
    return on(other);
  }
  if (x.pool)
    peers.pools.insert_or_assign(x.key, std::move(x.pool));
  else
    peers.pools.erase(x.key);
}

dispatcher_state::~dispatcher_state() {
  if (spec && spec->nodes) spec->nodes->release_run(spec->run);
}

void dispatcher_state::place(tool_call& call) {
  call.node.clear();
  if (!spec->nodes || call.control) return;
  auto where =
      spec->nodes->choose(call.tool, spec->run, spec->session, call.id);
  call.node = where.value_or("");
  notes[call.id].node = std::move(where);
}

/// The call's event says where; of a later attempt at another place a report.
void dispatcher_state::tell_place(const core::begin_call& x, run_entry& entry) {
  auto& of = notes[x.call.id];
  if (of.node && !*of.node) return;  // there is none
  const std::string here{"local"};
  const auto& where = x.call.node.empty() ? here : x.call.node;
  if ((of.told_node.empty() ? here : of.told_node) == where) return;
  of.told_node = where;
  if (x.announce) return;
  events::tool_progress said{x.call.id, x.call.tool, {}};
  said.report.message =
      "attempt " + std::to_string(x.attempt) +
      (where == here ? " in this process" : " on node " + where);
  entry.events.emplace_back(std::move(said));
}

void dispatcher_state::act(core::tell_queued& x) {
  events::tool_progress said{x.call.id, x.call.tool, {}};
  said.report.message = x.waited ? core::waited_notice(*x.waited)
                                 : std::string{core::waits_for_worker};
  run_entry entry;
  entry.events.emplace_back(std::move(said));
  self->send(peers.muxer, std::move(entry));
}

void dispatcher_state::name_place(const call_notes& of, call_result& result) {
  auto node = of.told_node;
  if (of.node) {
    const bool here = *of.node && (*of.node)->empty();
    node = here && !node.empty() ? "local" : of.node->value_or("");
  }
  if (!node.empty()) name_node(result, node);
}

/// `again`: it may begin at another place.
void dispatcher_state::answer_unplaced(const call_id& id, std::uint32_t attempt,
                                       error why, bool again) {
  work::done done{id, attempt};
  done.result.how = outcome::failed;
  done.result.err = std::move(why);
  done.moved = again;
  self->send(self, std::move(done));
}

void dispatcher_state::meter_begin(const tool_call& call) {
  if (const auto waited = clock.on_begun(call.id, now()))
    measure(metric::queue_wait, std::chrono::duration<double>(*waited).count(),
            {{metric_key::tool, call.tool}});
}

void dispatcher_state::on(work_returned& x) {
  apply(queue.on_work_returned(x.id, x.attempt, now()));
}

}  // namespace riffle
