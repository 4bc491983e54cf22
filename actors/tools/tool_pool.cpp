// SPDX-License-Identifier: MIT
#include "actors/tools/tool_pool.hpp"

#include <algorithm>

#include "actors/handler.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

call_result never_begun(outcome how, error why) {
  call_result result;
  result.how = how;
  result.err = std::move(why);
  return result;
}

}  // namespace

// -- calls in -----------------------------------------------------------------

void tool_pool_state::on_assignment(assignment& x) {
  queue_ticket who{x.run.value, x.call.limits.priority};
  const auto id = x.call.id;
  const auto number = queue.push(std::move(x), who, now());
  queued.insert_or_assign(id, std::pair{std::move(who), number});
  assign();
}

void tool_pool_state::assign() {
  while (!queue.empty()) {
    auto* free = find_free();
    if (free == nullptr || !give_next_to(*free)) return;
  }
}

/// A worker without a task; a new one if there is a place for it.
tool_pool_state::worker* tool_pool_state::find_free() {
  const auto free = std::ranges::find_if(
      workers, [](const worker& w) { return !w.task && !w.abandoned; });
  if (free != workers.end()) return &*free;
  const auto places = static_cast<std::size_t>(std::ranges::count_if(
      workers, [](const worker& w) { return !w.abandoned; }));
  if (places + resting >= limits.concurrency) return nullptr;
  workers.push_back({spawn_worker(self), {}});
  return &workers.back();
}

/// False: nothing can be given out now.
bool tool_pool_state::give_next_to(worker& free) {
  using admission = core::circuit_breaker::admission;
  const bool trial = !service->in_service();
  switch (service->admit(now())) {
    case admission::wait: return false;
    case admission::refuse:
      queued.clear();
      for (const auto& x : queue.drain()) refuse(x);
      return false;
    case admission::run: break;
  }
  free.task = queue.pop(now());
  queued.erase(free.task->call.id);
  free.trial = trial;
  if (trial)
    log_info("tool_pool", "`" + tool + "` is on trial: call " +
                              free.task->call.id.value +
                              " decides whether it is in service again");
  self->send(free.actor, assignment{*free.task});
  return true;
}

void tool_pool_state::refuse(const assignment& x) {
  self->send(x.dispatcher,
             work_done{x.call.id,
                       x.attempt,
                       never_begun(outcome::failed, service->why(now())),
                       0,
                       {},
                       {}});
}

// -- stopping -----------------------------------------------------------------

void tool_pool_state::on_stop(const stop_assignment& x) {
  for (auto& w : workers)
    if (w.task && w.task->call.id == x.id) stop(w);
  const auto place = queued.extract(x.id);
  if (!place) return;
  const auto& [who, number] = place.mapped();
  const auto a = queue.take(who, number);
  if (!a) return;
  self->send(
      a->dispatcher,
      work_done{a->call.id,
                a->attempt,
                never_begun(outcome::cancelled,
                            {errc::cancelled,
                             "tool_pool",
                             "the call was stopped before a worker was free",
                             false,
                             {}}),
                0,
                {},
                {}});
}

void tool_pool_state::stop(worker& w) {
  self->send(w.actor, stop_assignment{w.task->call.id, w.task->attempt});
  if (w.stopped_at) return;
  w.stopped_at = now();
  self->delayed_send(self, limits.abandon_after, tick{});
}

/// Places that were lost to calls which ignore their stop are given to others.
void tool_pool_state::on_tick() {
  for (auto& w : workers) {
    if (!w.stopped_at || w.abandoned ||
        now() < *w.stopped_at + limits.abandon_after)
      continue;
    w.abandoned = true;
    log_warn("tool_pool", tool + ": call " + w.task->call.id.value +
                              " was stopped and still runs");
    service->on_abandoned(now());
  }
  tell_service();
  assign();
}

// -- calls out ----------------------------------------------------------------

void tool_pool_state::on_idle(const worker_idle& x) {
  for (auto& w : workers) {
    if (!w.task || w.task->call.id != x.id) continue;
    if (w.trial && w.stopped_at && !w.abandoned)
      service->on_undecided(now());
    else if (!w.abandoned)
      service->on_success();
    on_end_of_task(w);
  }
  tell_service();
  // More workers than places, once an abandoned call has ended.
  while (workers.size() + resting > limits.concurrency) {
    const auto spare =
        std::ranges::find_if(workers, [](const worker& w) { return !w.task; });
    if (spare == workers.end()) break;
    self->send_exit(spare->actor, caf::exit_reason::normal);
    workers.erase(spare);
  }
  assign();
}

void tool_pool_state::on_end_of_task(worker& w) {
  if (w.abandoned) service->on_returned();
  queue.release(w.task->run.value);
  w.task.reset();
  w.trial = w.abandoned = false;
  w.stopped_at.reset();
}

namespace {

/// "transient", as in OTP: an end that was asked for is none.
bool is_crash(const caf::error& reason) {
  return reason != caf::exit_reason::normal &&
         reason != caf::exit_reason::user_shutdown;
}

}  // namespace

/// A worker died: its place rests, its call goes back.
void tool_pool_state::on_down(const caf::down_msg& x) {
  const auto i = std::ranges::find_if(
      workers, [&](const worker& w) { return w.actor.address() == x.source; });
  if (i == workers.end()) return;
  const bool had_place = !i->abandoned;
  auto task = i->task;
  if (i->task) on_end_of_task(*i);
  workers.erase(i);
  if (is_crash(x.reason)) {
    const auto rest = service->on_crash(
        now(), std::uniform_real_distribution<double>{}(random));
    if (rest && had_place) {
      ++resting;
      log_info(
          "tool_pool",
          "`" + tool + "`: a worker died (" + to_string(x.reason) +
              "), another may start in " +
              std::to_string(
                  std::chrono::duration_cast<std::chrono::milliseconds>(*rest)
                      .count()) +
              " ms");
      self->delayed_send(self, *rest, place_rested{});
    }
  }
  tell_service();
  if (task)
    self->send(task->dispatcher,
               work_lost{task->call.id, task->attempt, to_string(x.reason)});
  assign();
}

/// A tool on trial is not back yet.
void tool_pool_state::tell_service() {
  const bool up = service->in_service();
  if (std::exchange(told_in_service, up) == up) return;
  const auto why = up ? std::string{} : service->why(now()).message;
  if (up)
    log_info("tool_pool", "`" + tool + "` is in service again");
  else
    log_error("tool_pool", why);
  if (limits.on_service) limits.on_service(tool, why);
}

// -- a run whose actors failed ------------------------------------------------

void tool_pool_state::on_abandon(const abandon_run& x) {
  queue.erase_if([&](const assignment& a) {
    if (a.run != x.run) return false;
    queued.erase(a.call.id);
    return true;
  });
  for (auto& w : workers)
    if (w.task && w.task->run == x.run) stop(w);
}

tool_pool_actor::behavior_type tool_pool(
    tool_pool_actor::stateful_pointer<tool_pool_state> self, std::string tool,
    pool_limits limits, worker_spawner spawn_worker) {
  auto& st = self->state;
  st.tool = std::move(tool);
  st.limits = limits;
  st.limits.concurrency = std::max<std::size_t>(1, limits.concurrency);
  st.spawn_worker = std::move(spawn_worker);
  st.service.emplace(st.tool, limits.service);
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.limits.faults, handler, std::move(f));
  };
  self->set_down_handler([&st, run](caf::down_msg& x) {
    run("tool_pool.down", [&] { st.on_down(x); });
  });
  self->set_exit_handler([&st](caf::exit_msg& x) {
    for (auto& w : st.workers) st.self->send_exit(w.actor, x.reason);
    st.self->quit(std::move(x.reason));
  });
  return {
      [&st, run](assignment& x) {
        run("tool_pool.assignment", [&] { st.on_assignment(x); });
      },
      [&st, run](stop_assignment& x) {
        run("tool_pool.stop", [&] { st.on_stop(x); });
      },
      [&st, run](worker_idle& x) {
        run("tool_pool.idle", [&] { st.on_idle(x); });
      },
      [&st, run](place_rested&) {
        run("tool_pool.rested", [&] {
          if (st.resting > 0) --st.resting;
          st.assign();
        });
      },
      [&st, run](abandon_run& x) {
        run("tool_pool.abandon", [&] { st.on_abandon(x); });
      },
      [&st, run](tick&) { run("tool_pool.tick", [&] { st.on_tick(); }); },
  };
}

}  // namespace riffle
