// SPDX-License-Identifier: MIT
#include "actors/tools/tool_pool.hpp"

#include <algorithm>

#include "actors/end_reason.hpp"
#include "actors/handler.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

// -- calls in -----------------------------------------------------------------

void tool_pool_state::on(work::assignment& x, work_listeners& who) {
  if (closed) return turn_away({std::move(x), std::move(who)});
  queue_ticket place{x.run.value, x.call.limits.priority};
  const auto id = x.call.id;
  const auto number = queue.push({std::move(x), std::move(who)}, place, now());
  queued.insert_or_assign(id, std::pair{std::move(place), number});
  assign();
}

void tool_pool_state::assign() {
  if (held) return;
  while (!queue.empty()) {
    if (service->refuses(now())) return refuse(service->why(now()));
    auto* free = find_free();
    if (free == nullptr) return start_workers();
    if (!give_next_to(*free)) return;
  }
}

tool_pool_state::worker* tool_pool_state::find_free() {
  const auto free = std::ranges::find_if(workers, [](const worker& w) {
    return w.calls.size() < w.places && !w.abandoned();
  });
  return free == workers.end() ? nullptr : &*free;
}

/// For what waits, as far as there is room. They take calls once they have
/// offered to.
void tool_pool_state::start_workers() {
  auto taken = resting;
  std::size_t starting = 0;
  for (const auto& w : workers) {
    if (!w.abandoned()) ++taken;
    if (w.places == 0) ++starting;
  }
  for (; taken < limits.concurrency && starting < queue.size(); ++taken) {
    workers.push_back({spawn_worker(self)});
    ++starting;
  }
}

/// A worker of another version, or for other tools, ends as if it had crashed.
void tool_pool_state::on(const work::offer& x) {
  const auto from = caf::actor_cast<caf::actor_addr>(self->current_sender());
  const auto found = std::ranges::find_if(
      workers, [&](const worker& w) { return w.actor.address() == from; });
  if (found == workers.end()) return;
  std::string why;
  if (x.version != work::version)
    why = "it speaks version " + std::to_string(x.version) +
          " of the work messages, not " + std::to_string(work::version);
  else if (std::ranges::find(x.tools, tool) == x.tools.end() || x.places == 0)
    why = "it does not serve `" + tool + "`: " + x.problem;
  if (!why.empty())
    return self->send_exit(found->actor,
                           caf::make_error(caf::sec::runtime_error, why));
  found->places = x.places;
  assign();
}

/// False: nothing can be given out now.
bool tool_pool_state::give_next_to(worker& free) {
  const bool trial = !service->is_closed();
  if (service->admit(now()) != core::circuit_breaker::admission::run)
    return false;
  auto next = *queue.pop(now());
  const auto& call = next.what.call;
  queued.erase(call.id);
  if (trial)
    log_info("tool_pool", "`" + tool + "` is on trial: call " + call.id.value +
                              " decides whether it is in service again");
  free.calls.push_back(
      {call.id, next.what.attempt, next.what.run, next.who, trial});
  self->send(free.actor, std::move(next.what), std::move(next.who));
  return true;
}

void tool_pool_state::refuse(const error& why) {
  queued.clear();
  for (const auto& x : queue.drain()) settle(x, outcome::failed, why);
}

/// A call that no worker got.
void tool_pool_state::settle(const queued_call& x, outcome how, error why) {
  call_result result;
  result.how = how;
  result.err = std::move(why);
  self->send(x.who.dispatcher,
             work::done{x.what.call.id, x.what.attempt, std::move(result), 0});
}

// -- stopping -----------------------------------------------------------------

void tool_pool_state::on(const work::stop& x) {
  for (auto& w : workers)
    for (auto& call : w.calls)
      if (call.id == x.id) stop(w, call);
  const auto place = queued.extract(x.id);
  if (!place) return;
  const auto& [who, number] = place.mapped();
  const auto waiting = queue.take(who, number);
  if (waiting)
    settle(*waiting, outcome::cancelled,
           {errc::cancelled, "tool_pool",
            "the call was stopped before a worker was free"});
}

void tool_pool_state::stop(const worker& w, running_call& x) {
  self->send(w.actor, work::stop{x.id, x.attempt});
  if (x.stopped_at) return;
  x.stopped_at = now();
  self->delayed_send(self, limits.abandon_after, tick{});
}

/// Places that were lost to calls which ignore their stop are given to others.
void tool_pool_state::on(tick&) {
  for (auto& w : workers)
    for (auto& x : w.calls) {
      if (!x.stopped_at || x.abandoned ||
          now() < *x.stopped_at + limits.abandon_after)
        continue;
      x.abandoned = true;
      log_warn("tool_pool",
               tool + ": call " + x.id.value + " was stopped and still runs");
      service->on_abandoned(now());
    }
  tell_service();
  assign();
}

// -- calls out ----------------------------------------------------------------

void tool_pool_state::on(const work::freed& x) {
  for (auto& w : workers) {
    const auto i = std::ranges::find(w.calls, x.id, &running_call::id);
    if (i == w.calls.end()) continue;
    if (i->trial && i->stopped_at && !i->abandoned)
      service->on_undecided(now());
    else if (!i->abandoned)
      service->on_success();
    on_end_of(*i);
    w.calls.erase(i);
  }
  tell_service();
  // More workers than places, once an abandoned call has ended.
  while (workers.size() + resting > limits.concurrency) {
    const auto spare = std::ranges::find_if(
        workers, [](const worker& w) { return w.calls.empty(); });
    if (spare == workers.end()) break;
    self->send_exit(spare->actor, caf::exit_reason::normal);
    workers.erase(spare);
  }
  assign();
  end_if_done();
}

void tool_pool_state::on_end_of(const running_call& x) {
  if (x.abandoned) service->on_returned();
  queue.release(x.run.value);
}

/// A worker died: its place rests, its calls go back.
void tool_pool_state::on(const caf::down_msg& x) {
  const auto i = std::ranges::find_if(
      workers, [&](const worker& w) { return w.actor.address() == x.source; });
  if (i == workers.end()) return;
  const bool had_place = !i->abandoned();
  // Another one would hardly do better: nothing waits for it, unless others
  // serve.
  const bool alone = std::ranges::all_of(
      workers, [](const worker& w) { return w.places == 0; });
  if (alone && is_crash(x.reason))
    refuse({errc::tool_unavailable, "tool_pool",
            "no worker of `" + tool + "` could start", false,
            describe_end(x.reason)});
  const auto calls = std::move(i->calls);
  for (const auto& call : calls) on_end_of(call);
  workers.erase(i);
  if (is_crash(x.reason)) {
    measure(metric::restarts, 1, {{metric_key::tool, tool}});
    const auto rest = service->on_crash(
        now(), std::uniform_real_distribution<double>{}(random));
    if (rest && had_place) {
      ++resting;
      log_info(
          "tool_pool",
          "`" + tool + "`: a worker died (" + describe_end(x.reason) +
              "), another may start in " +
              std::to_string(
                  std::chrono::duration_cast<std::chrono::milliseconds>(*rest)
                      .count()) +
              " ms");
      self->delayed_send(self, *rest, place_rested{});
    }
  }
  tell_service();
  for (const auto& call : calls)
    self->send(call.who.dispatcher,
               work::lost{call.id, call.attempt, describe_end(x.reason)});
  assign();
  end_if_done();
}

/// The next pool begins with a tool that is in service.
tool_pool_state::~tool_pool_state() {
  if (!told_closed)
    measure(metric::open_breakers, -1, {{metric_key::tool, tool}});
}

/// A tool on trial is not back yet.
void tool_pool_state::tell_service() {
  const bool up = service->is_closed();
  if (std::exchange(told_closed, up) == up) return;
  measure(metric::open_breakers, up ? -1 : 1, {{metric_key::tool, tool}});
  const auto why = up ? std::string{} : service->why(now()).message;
  if (up)
    log_info("tool_pool", "`" + tool + "` is in service again");
  else
    log_error("tool_pool", why);
  if (limits.on_service) limits.on_service(tool, why);
}

// -- its place is no more -----------------------------------------------------

/// What had not begun is judged again, and may begin at another place.
void tool_pool_state::on(close_pool& x) {
  if (closed) return;
  held = held || x.later;
  if (x.later) return;
  closed = std::move(x.reason);
  queued.clear();
  for (const auto& one : queue.drain()) turn_away(one);
  end_if_done();
}

void tool_pool_state::turn_away(const queued_call& x) {
  work::done back{x.what.call.id, x.what.attempt};
  back.result.how = outcome::failed;
  back.result.err = error{errc::tool_unavailable, "tool_pool", *closed, true};
  back.last_progress = 0;
  back.moved = true;
  self->send(x.who.dispatcher, std::move(back));
}

void tool_pool_state::end_if_done() {
  if (!closed) return;
  const bool idle = std::ranges::all_of(
      workers, [](const worker& w) { return w.calls.empty(); });
  if (idle) self->quit();
}

// -- a run whose actors failed ------------------------------------------------

void tool_pool_state::on(const abandon_run& x) {
  queue.erase_if([&](const queued_call& q) {
    if (q.what.run != x.run) return false;
    queued.erase(q.what.call.id);
    return true;
  });
  for (auto& w : workers)
    for (auto& call : w.calls)
      if (call.run == x.run) stop(w, call);
}

tool_pool_actor::behavior_type tool_pool(
    tool_pool_actor::stateful_pointer<tool_pool_state> self, std::string tool,
    pool_limits limits, worker_spawner spawn_worker) {
  log_exceptions(self);
  auto& st = self->state;
  st.tool = std::move(tool);
  st.limits = std::move(limits);
  st.limits.concurrency = std::max<std::size_t>(1, st.limits.concurrency);
  st.spawn_worker = std::move(spawn_worker);
  st.service.emplace(st.tool, st.limits.service);
  self->set_down_handler(handle<caf::down_msg>(self, "tool_pool.down"));
  self->set_exit_handler([&st](caf::exit_msg& x) {
    for (auto& w : st.workers) st.self->send_exit(w.actor, x.reason);
    st.self->quit(std::move(x.reason));
  });
  return {
      handle<work::offer>(self, "tool_pool.offer"),
      handle<work::freed>(self, "tool_pool.idle"),
      handle<work::assignment, work_listeners>(self, "tool_pool.assignment"),
      handle<work::stop>(self, "tool_pool.stop"),
      handle<place_rested>(self, "tool_pool.rested"),
      handle<abandon_run>(self, "tool_pool.abandon"),
      handle<close_pool>(self, "tool_pool.close"),
      handle<tick>(self, "tool_pool.tick"),
  };
}

}  // namespace riffle
