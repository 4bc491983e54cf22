// SPDX-License-Identifier: MIT
#include "runtime/service/volley_run.hpp"

#include <utility>

#include "messages/event_line.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/run_end.hpp"

namespace riffle::service {

namespace {

constexpr const char* volley_op = "volley";

task_status status_of(events::run_status x) {
  switch (x) {
    case events::run_status::completed: return task_status::completed;
    case events::run_status::cancelled: return task_status::cancelled;
    case events::run_status::failed: break;
  }
  return task_status::failed;
}

}  // namespace

volley_run::volley_run(std::string id, std::vector<volley_entry> tasks,
                       resume_options again, class runs runs,
                       std::shared_ptr<storage::event_log> log,
                       std::shared_ptr<executor> where,
                       std::shared_ptr<volley_listener> listener,
                       std::shared_ptr<volley_lock> lock, end_asked asked,
                       has_room room, shared_texts shared)
    : id_{std::move(id)},
      again_{std::move(again)},
      runs_{std::move(runs)},
      log_{std::move(log)},
      where_{std::move(where)},
      end_asked_{std::move(asked)},
      has_room_{std::move(room)},
      shared_{std::move(shared)},
      lock_{std::move(lock)},
      listener_{std::move(listener)} {
  slots_.reserve(tasks.size());
  for (auto& x : tasks) {
    const auto now = x.ended ? phase::over : phase::waits;
    slots_.push_back({std::move(x), now});
  }
}

/// A run that goes on is the same attempt.
std::vector<core::volley_task> volley_run::to_schedule() const {
  std::vector<core::volley_task> out;
  out.reserve(slots_.size());
  for (const auto& x : slots_) {
    const auto& session = x.what.request.session;
    out.push_back({session ? session->value : std::string{},
                   x.what.result.attempts - (x.what.open ? 1u : 0u),
                   x.what.ended, x.what.model});
  }
  return out;
}

void volley_run::attach(volley_scheduler_actor who) {
  const std::lock_guard lock{mutex_};
  scheduler_ = std::move(who);
  for (const auto& [model, most] : capacity_)
    caf::anon_send(scheduler_, capacity_known{model, most});
}

void volley_run::on_capacity(const std::string& model, std::uint32_t most) {
  const std::lock_guard lock{mutex_};
  capacity_[model] = most;
  if (scheduler_) caf::anon_send(scheduler_, capacity_known{model, most});
}

volley_scheduler_actor volley_run::scheduler() {
  const std::lock_guard lock{mutex_};
  return scheduler_;
}

void volley_run::cancel(std::string reason) {
  if (const auto to = scheduler())
    caf::anon_send(to, cancel_volley{std::move(reason)});
}

void volley_run::cut() {
  volley_scheduler_actor gone;
  {
    const std::lock_guard lock{mutex_};
    gone = std::exchange(scheduler_, nullptr);
  }
  if (gone) caf::anon_send_exit(gone, caf::exit_reason::user_shutdown);
}

std::optional<std::vector<run_id>> volley_run::under_way() {
  const std::lock_guard lock{mutex_};
  std::vector<run_id> out;
  bool over = true;
  for (const auto& x : slots_) {
    if (x.now != phase::over) over = false;
    if (x.now == phase::between) return std::nullopt;
    if (x.now != phase::works) continue;
    if (!x.run) return std::nullopt;
    out.push_back(*x.run);
  }
  if (out.empty() && !over) return std::nullopt;
  return out;
}

void volley_run::start(std::size_t task, std::uint32_t attempt) {
  bool again = false;
  {
    const std::lock_guard lock{mutex_};
    auto& x = slots_[task];
    x.now = phase::works;
    again = !x.what.result.runs.empty();
    x.what.result.attempts = attempt;
    x.announced = false;
  }
  if (!where_ || (!again && !has_room_)) return begin(task);
  where_->submit([me = shared_from_this(), task] {
    if (me->may_begin(task)) me->begin(task);
  });
}

/// In the pause before it somebody may have asked for the end, with no run
/// there to be cancelled. Blocks.
bool volley_run::may_begin(std::size_t task) {
  if (auto reason = end_asked_ ? end_asked_() : std::nullopt) {
    cancel(std::move(*reason));
    no_room(task);
    return false;
  }
  if (!has_room_ || has_room_()) return true;
  no_room(task);
  return false;
}

/// It has not begun, and waits for its turn again.
void volley_run::no_room(std::size_t task) {
  {
    const std::lock_guard lock{mutex_};
    slots_[task].now = phase::between;
    --slots_[task].what.result.attempts;
  }
  tell(task, {.no_room = true});
}

/// With what its task shares with others.
run_request volley_run::whole(run_request x) const {
  if (x.context.empty()) x.context = shared_.context;
  if (!shared_.given.empty())
    x.context += (x.context.empty() ? "" : "\n\n") + shared_.given;
  const auto told = shared_.surroundings.find(x.agent);
  if (x.surroundings.empty() && told != shared_.surroundings.end())
    x.surroundings = told->second;
  return x;
}

void volley_run::begin(std::size_t task) {
  std::optional<run_id> open;
  std::optional<run_id> waiting;
  run_request request;
  {
    const std::lock_guard lock{mutex_};
    open = slots_[task].what.open;
    request = slots_[task].what.request;
    waiting = std::exchange(slots_[task].suspended, std::nullopt);
    if (waiting) slots_[task].announced = true;
  }
  const auto reader = reader_of(task);
  if (waiting) {
    auto again = reader(*waiting, {});
    return runs_.follow(*waiting, std::move(again));
  }
  const reply<run_opened> to{
      [me = shared_from_this(), task](expected<run_opened> x) {
        me->opened(task, std::move(x));
      }};
  if (open) return runs_.resume(*open, again_, reader, to);
  runs_.start(whole(std::move(request)), task_place{id_, task}, reader, to);
}

/// Calls `ended` once, however its run ends.
reader_maker volley_run::reader_of(std::size_t task) {
  return [me = weak_from_this(), task, log = log_, where = where_,
          runs = runs_](const run_id& run, const session_id&) {
    return std::make_shared<run_end_reader>(
        run, log, where,
        [runs, run](subscriber_ptr who) { runs.follow(run, std::move(who)); },
        [me, task, run](expected<run_end> end) {
          const auto self = me.lock();
          if (!self) return;
          self->when_announced(task, [self = self.get(), task, run, end] {
            if (end) return self->ended(task, end->finished, {}, end->answer);
            if (end.error().code == errc::storage_unavailable)
              return self->suspended(task, run, end.error());
            self->ended(task, {}, end.error());
          });
        });
  };
}

/// The journal refused, as a full disk does: the run goes on once it takes it
/// again, and is looked for until then.
void volley_run::suspended(std::size_t task, const run_id& run,
                           const error& why) {
  bool told = false;
  {
    const std::lock_guard lock{mutex_};
    slots_[task].suspended = run;
    told = std::exchange(told_of_room_, true);
  }
  if (!told)
    log_warn("volley", id_ + " waits for room: " + why.message +
                           ". It goes on by itself then");
  no_room(task);
}

void volley_run::opened(std::size_t task, expected<run_opened> x) {
  // As `run_table` says it: there are `runtime.max_runs` already. Or the disk
  // is full.
  if (!x && (x.error().code == errc::budget_exceeded ||
             x.error().code == errc::storage_unavailable))
    return no_room(task);
  if (!x) return ended(task, {}, std::move(x.error()));
  std::optional<std::string> cancelled;
  std::shared_ptr<volley_listener> listener;
  {
    const std::lock_guard lock{mutex_};
    auto& slot = slots_[task];
    slot.run = x->run;
    slot.what.open.reset();  // it goes on, or another one has begun
    auto& result = slot.what.result;
    if (result.runs.empty() || result.runs.back() != x->run)
      result.runs.push_back(x->run);
    result.run = x->run;
    result.session = x->session;
    cancelled = slot.cancelled;
    listener = listener_;
  }
  if (listener) listener->begun(task, *x);
  if (cancelled) runs_.cancel_here(x->run, *cancelled);
  std::function<void()> held;
  {
    const std::lock_guard lock{mutex_};
    slots_[task].announced = true;
    held = std::exchange(slots_[task].held, nullptr);
  }
  if (held) held();
}

/// A short run may be over before it is known that it began.
void volley_run::when_announced(std::size_t task, std::function<void()> f) {
  {
    const std::lock_guard lock{mutex_};
    auto& slot = slots_[task];
    if (!slot.announced) {
      slot.held = std::move(f);
      return;
    }
  }
  f();
}

void volley_run::cancel(std::size_t task, const std::string& reason) {
  const auto why = reason.empty() ? std::string{failed_fast} : reason;
  std::optional<run_id> run;
  {
    const std::lock_guard lock{mutex_};
    slots_[task].cancelled = why;
    run = slots_[task].run;
  }
  if (run) runs_.cancel_here(*run, why);
}

void volley_run::ended(std::size_t task,
                       const std::optional<events::run_finished>& end,
                       std::optional<error> failure, std::string answer) {
  core::task_end how;
  bool from_outside = false;
  {
    const std::lock_guard lock{mutex_};
    auto& x = slots_[task];
    auto& result = x.what.result;
    x.now = phase::between;
    x.run.reset();
    result.status = end ? status_of(end->status) : task_status::failed;
    result.failure = end ? end->err : std::move(failure);
    if (end) add(result.usage, end->usage);
    result.answer = std::move(answer);
    how.completed = result.status == task_status::completed;
    from_outside = result.status == task_status::cancelled && !x.cancelled;
    if (result.failure && result.status == task_status::failed) {
      how.retryable = result.failure->retryable;
      how.rate_limited = result.failure->code == errc::model_rate_limited;
    }
  }
  if (from_outside || how.retryable) return tell_after_look(task, how);
  tell(task, how);
}

/// Who cancelled the run may want all of the volley to end: then nothing
/// begins in its place.
void volley_run::tell_after_look(std::size_t task, const core::task_end& how) {
  const auto look = [me = shared_from_this(), task, how] {
    if (me->end_asked_)
      if (auto reason = me->end_asked_()) me->cancel(std::move(*reason));
    me->tell(task, how);
  };
  if (where_)
    where_->submit(look);
  else
    look();
}

void volley_run::tell(std::size_t task, const core::task_end& how) {
  if (const auto to = scheduler()) caf::anon_send(to, task_ended{task, how});
}

void volley_run::over(std::size_t task, bool ran, bool left) {
  task_result result;
  std::shared_ptr<volley_listener> listener;
  std::optional<run_id> suspended;
  {
    const std::lock_guard lock{mutex_};
    slots_[task].now = phase::over;
    suspended = std::exchange(slots_[task].suspended, std::nullopt);
    auto& x = slots_[task].what.result;
    if (!ran) x.status = task_status::not_run;
    // Its last run failed; who goes on with the volley runs it again.
    if (left || suspended) x.status = task_status::cancelled;
    result = x;
    listener = listener_;
  }
  // Its schedule took it for one that waits: else it would go on by itself.
  if (suspended) runs_.cancel_here(*suspended, "cancelled with its volley");
  if (listener) listener->over(result);
}

void volley_run::all_over(const std::optional<std::string>& failure) {
  std::shared_ptr<volley_listener> listener;
  {
    const std::lock_guard lock{mutex_};
    listener = std::move(listener_);
    listener_.reset();
    scheduler_ = nullptr;
    lock_.reset();
  }
  if (!listener) return;
  if (!failure) return listener->all_over(std::nullopt);
  listener->all_over(error{errc::internal, volley_op,
                           "the volley's scheduler ended: " + *failure});
}

}  // namespace riffle::service
