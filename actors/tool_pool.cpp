// SPDX-License-Identifier: MIT
#include "actors/tool_pool.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr auto longest_rest = std::chrono::seconds{30};

work_done stopped(const assignment& x) {
  call_result result;
  result.how = outcome::cancelled;
  result.err = error{errc::cancelled, "tool_pool",
                     "the call was stopped before a worker was free"};
  return {x.call.id, x.attempt, std::move(result), 0, {}};
}

}  // namespace

void tool_pool_state::on_assignment(assignment& x) {
  queue.push_back(std::move(x));
  assign();
}

void tool_pool_state::assign() {
  while (!queue.empty()) {
    auto free =
        std::ranges::find_if(workers, [](const worker& w) { return !w.task; });
    if (free == workers.end()) {
      if (workers.size() + resting >= concurrency) return;
      workers.push_back({spawn_worker(self), {}});
      free = std::prev(workers.end());
    }
    free->task = std::move(queue.front());
    queue.pop_front();
    self->send(free->actor, assignment{*free->task});
  }
}

void tool_pool_state::on_stop(const stop_assignment& x) {
  for (auto& w : workers)
    if (w.task && w.task->call.id == x.id) self->send(w.actor, x);
  std::erase_if(queue, [&](const assignment& a) {
    if (a.call.id != x.id) return false;
    self->send(a.dispatcher, stopped(a));
    return true;
  });
}

void tool_pool_state::on_idle(const worker_idle& x) {
  for (auto& w : workers)
    if (w.task && w.task->call.id == x.id) w.task.reset();
  assign();
  answer_abandoned();
}

/// A worker died: its place rests, its call goes back.
void tool_pool_state::on_down(const caf::down_msg& x) {
  const auto i = std::ranges::find_if(
      workers, [&](const worker& w) { return w.actor.address() == x.source; });
  if (i == workers.end()) return;
  auto task = std::move(i->task);
  workers.erase(i);
  const bool calm = restarts->allow(self->clock().now());
  const auto random01 = std::uniform_real_distribution<double>{}(random);
  const duration rest = calm ? restarts->delay(random01) : longest_rest;
  ++resting;
  self->delayed_send(self, rest, tick{});
  if (task)
    self->send(task->dispatcher,
               work_lost{task->call.id, task->attempt, to_string(x.reason)});
  answer_abandoned();
}

caf::result<run_abandoned> tool_pool_state::on_abandon(const abandon_run& x) {
  std::erase_if(queue, [&](const assignment& a) { return a.run == x.run; });
  for (auto& w : workers)
    if (w.task && w.task->run == x.run)
      self->send(w.actor, stop_assignment{w.task->call.id, w.task->attempt});
  if (!busy_with(x.run)) return run_abandoned{x.run};
  auto promise = self->make_response_promise<run_abandoned>();
  abandoning.emplace_back(x.run, promise);
  return promise;
}

bool tool_pool_state::busy_with(const run_id& run) const {
  return std::ranges::any_of(
      workers, [&](const worker& w) { return w.task && w.task->run == run; });
}

void tool_pool_state::answer_abandoned() {
  std::erase_if(abandoning, [this](auto& x) {
    if (busy_with(x.first)) return false;
    x.second.deliver(run_abandoned{x.first});
    return true;
  });
}

tool_pool_actor::behavior_type tool_pool(
    tool_pool_actor::stateful_pointer<tool_pool_state> self, std::string tool,
    std::size_t concurrency, config::supervision_config supervision,
    worker_spawner spawn_worker) {
  auto& st = self->state;
  st.tool = std::move(tool);
  st.concurrency = std::max<std::size_t>(1, concurrency);
  st.spawn_worker = std::move(spawn_worker);
  st.restarts.emplace(supervision.intensity, supervision.period,
                      core::restart_policy::backoff{supervision.backoff_base,
                                                    supervision.backoff_cap});
  self->set_down_handler([&st](caf::down_msg& x) { st.on_down(x); });
  self->set_exit_handler([&st](caf::exit_msg& x) {
    for (auto& w : st.workers) st.self->send_exit(w.actor, x.reason);
    st.self->quit(std::move(x.reason));
  });
  return {
      [&st](assignment& x) { st.on_assignment(x); },
      [&st](stop_assignment& x) { st.on_stop(x); },
      [&st](worker_idle& x) { st.on_idle(x); },
      [&st](tick&) {
        if (st.resting > 0) --st.resting;
        st.assign();
      },
      [&st](abandon_run& x) { return st.on_abandon(x); },
  };
}

}  // namespace riffle
