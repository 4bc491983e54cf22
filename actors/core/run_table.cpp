// SPDX-License-Identifier: MIT
#include "actors/core/run_table.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

namespace {

constexpr const char* run_registry_op = "run_registry";
using level = note_run::level;

note_run note(level at, const run_id& id, std::string text,
              std::optional<error> why = {}) {
  return {at, id, std::move(text), std::move(why)};
}

bool may_come_back(const error& why) {
  return why.code == errc::storage_unavailable;
}

error store_silent() {
  return {errc::storage_unavailable, run_registry_op,
          "the store did not answer in time"};
}

}  // namespace

// -- who may ------------------------------------------------------------------

std::optional<error> run_table::find_refusal(const asked_run& x) const {
  if (closing_)
    return error{errc::cancelled, run_registry_op, "the runtime is closing"};
  const auto* known = find(x.run);
  const bool free = known == nullptr || (known->at == phase::suspended &&
                                         !known->asked && !x.fresh);
  if (!free && known->at == phase::late)
    return error{errc::session_busy, run_registry_op,
                 "the store has yet to answer an earlier request for the run"};
  if (!free)
    return error{errc::session_busy, run_registry_op,
                 "the run is under way in this process"};
  const bool only_ends = x.end && !x.fresh;
  if (!only_ends && !x.within_plan && limits_.max_runs > 0 &&
      busy() >= limits_.max_runs)
    return error{errc::budget_exceeded, run_registry_op,
                 "there are " + std::to_string(limits_.max_runs) +
                     " runs already; raise runtime.max_runs or wait"};
  return std::nullopt;
}

run_effects run_table::on_asked(asked_run x) {
  run_effects out;
  auto* known = find(x.run);
  if (known == nullptr) known = &runs_.try_emplace(x.run).first->second;
  if (x.end) known->end = x.end;
  known->what = std::move(x);
  known->awaited = true;
  known->last_try = false;
  known->deadline.reset();
  known->restarts = restart_policy{limits_.intensity, limits_.period};
  ask(*known, known->what.fresh, out);
  return out;
}

void run_table::ask(entry& x, bool fresh, run_effects& out) {
  x.asked = true;
  x.ticket = ++last_ticket_;
  out.emplace_back(ask_store{x.what.run, x.ticket, fresh});
}

// -- what the store says ------------------------------------------------------

run_table::entry* run_table::answered(const run_id& id, run_ticket ticket) {
  auto* x = find(id);
  if (x == nullptr || !x->asked || x->ticket != ticket) return nullptr;
  x->asked = false;
  return x;
}

run_effects run_table::on_opened(const run_id& id, run_ticket ticket,
                                 time_point now) {
  run_effects out;
  auto* x = answered(id, ticket);
  if (x == nullptr) return out;
  const bool awaited = std::exchange(x->awaited, false);
  switch (x->at) {
    case phase::late: take_late(*x, out, now); break;
    case phase::suspended:
      if (awaited || !closing_) {
        out.emplace_back(
            note(level::info, id, "goes on: the journal takes it again"));
        begin(*x, false, out, now);
      }
      if (probed_ == id) on_probe_answered(true, out);
      break;
    case phase::opening: begin(*x, x->what.fresh, out, now); break;
    default: begin(*x, false, out, now);
  }
  if (awaited) out.emplace_back(answer_asker{id, {}});
  x = find(id);  // a late one may be forgotten by now
  if (closing_ && awaited && x != nullptr && x->at == phase::running)
    end_for_closing(*x, out);
  check_closed(out);
  return out;
}

void run_table::begin(entry& x, bool fresh, run_effects& out, time_point now) {
  x.at = phase::running;
  x.ending = false;
  x.broken.reset();
  // A run that starts again, or was suspended, has no more time than at first.
  const auto left = x.deadline;
  if (x.what.time_limit > duration{} && !left)
    x.deadline = now + x.what.time_limit;
  out.emplace_back(begin_run{x.what.run, fresh, x.end, left});
}

/// Nobody waits for it any more: what was resumed goes back to where it was;
/// what was started, or was to be ended, ends, so that nothing is left of it.
void run_table::take_late(entry& x, run_effects& out, time_point now) {
  const auto id = x.what.run;
  const bool let_go = closing_ || (!x.what.fresh && !x.end);
  out.emplace_back(
      note(level::warn, id,
           std::string{"was answered by the store too late and is "} +
               (let_go ? "disowned" : "ended")));
  if (let_go) return forget(id, true, out);
  if (!x.end)
    x.end = end_request{{errc::cancelled, run_registry_op,
                         "nobody waits for its start any more"}};
  begin(x, x.what.fresh, out, now);
}

run_effects run_table::on_refused(const run_id& id, run_ticket ticket,
                                  error why) {
  run_effects out;
  auto* x = answered(id, ticket);
  if (x == nullptr) return out;
  switch (x->at) {
    case phase::opening:
      refuse_asker(*x, std::move(why), out);
      forget(id, false, out);
      break;
    case phase::late:
      out.emplace_back(note(level::info, id, "was refused, too late", why));
      forget(id, false, out);
      break;
    case phase::suspended: refuse_suspended(*x, std::move(why), out); break;
    default: refuse_restart(*x, std::move(why), out);
  }
  check_closed(out);
  return out;
}

void run_table::refuse_asker(entry& x, error why, run_effects& out) {
  x.awaited = false;
  out.emplace_back(answer_asker{x.what.run, std::move(why)});
}

void run_table::refuse_restart(entry& x, error why, run_effects& out) {
  const auto id = x.what.run;
  if (why.code == errc::invalid_request) {
    // Its last event was stored before the failure: that was its end.
    out.emplace_back(close_readers{id, {}});
    forget(id, false, out);
  } else if (may_come_back(why)) {
    suspend(x, std::move(why), out);
  } else {
    out.emplace_back(note(level::error, id, "is given up", why));
    out.emplace_back(close_readers{id, std::move(why)});
    forget(id, true, out);
  }
}

run_effects run_table::on_deadline(const run_id& id, run_ticket ticket) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr) return out;
  const bool open = x->asked && x->ticket == ticket;
  if (x->at == phase::clearing && x->work == ticket) {
    out.emplace_back(
        note(level::warn, id, "has work that did not end in time"));
    on_cleared(*x, out);
  } else if (open && x->at == phase::adopting) {
    suspend(*x, store_silent(), out);
  } else if (open && x->awaited) {
    out.emplace_back(
        note(level::warn, id, "got no answer of the store in time"));
    refuse_asker(*x, store_silent(), out);
    if (x->at == phase::opening) x->at = phase::late;
  }
  check_closed(out);
  return out;
}

run_effects run_table::on_withdrawn(const run_id& id) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr) return out;
  out.emplace_back(note(level::warn, id, "is not waited for any more"));
  const error why{errc::cancelled, run_registry_op,
                  "nobody waits for its start any more"};
  x->awaited = false;
  if (x->at == phase::opening) {
    x->at = phase::late;
  } else if (x->at == phase::running && x->what.fresh) {
    return on_cancel(id, {why});
  } else if (x->at == phase::running) {
    return on_broken(id, why);
  }
  check_closed(out);
  return out;
}

// -- while it runs ------------------------------------------------------------

run_effects run_table::on_cancel(const run_id& id, end_request how) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr || x->end) return out;
  x->end = how;
  if (x->at == phase::running) out.emplace_back(tell_end{id, std::move(how)});
  return out;
}

run_effects run_table::on_broken(const run_id& id, error why) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr || x->at != phase::running) return out;
  if (!x->broken) x->broken = std::move(why);
  out.emplace_back(stop_actors{id});
  return out;
}

void run_table::on_ending(const run_id& id) {
  if (auto* x = find(id)) x->ending = true;
}

// -- the end, or another try --------------------------------------------------

run_effects run_table::on_all_down(const run_id& id, const std::string& why,
                                   time_point now) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr || x->at != phase::running) return out;
  if (x->ending && !x->broken) {
    out.emplace_back(close_readers{id, {}});
    forget(id, false, out);
    check_closed(out);
    return out;
  }
  if (!x->broken) {
    out.emplace_back(note(level::warn, id, "failed: " + why));
    if (!x->restarts.allow(now)) {
      const error often{errc::internal, run_registry_op,
                        "the run failed too often: " + why};
      if (std::exchange(x->last_try, true))
        x->broken = often;
      else
        x->end = end_request{often, false};  // settle what is open, then end
    }
  }
  if (x->broken) {
    const bool rests = may_come_back(*x->broken);
    // Who reads it is told, and says it to people.
    out.emplace_back(note(rests ? level::info : level::error, id,
                          rests ? "is suspended" : "is given up", x->broken));
    out.emplace_back(close_readers{id, x->broken});
  }
  // Its work must have ended before its calls are settled.
  x->at = phase::clearing;
  x->works = true;
  x->work = ++last_ticket_;
  out.emplace_back(end_work{id, x->work});
  return out;
}

run_effects run_table::on_work_ended(const run_id& id, run_ticket ticket) {
  run_effects out;
  auto* x = find(id);
  if (x == nullptr || x->work != ticket) return out;
  x->works = false;
  if (x->at == phase::clearing)
    on_cleared(*x, out);
  else if (x->at == phase::lingering)
    forget(id, true, out);
  check_closed(out);
  return out;
}

void run_table::on_cleared(entry& x, run_effects& out) {
  if (!x.broken) {
    x.at = phase::adopting;
    ask(x, false, out);
  } else if (may_come_back(*x.broken)) {
    x.at = phase::suspended;
    schedule_probe(out);
  } else {
    const auto id = x.what.run;
    forget(id, true, out);
  }
}

/// `disown`: it is this process's, and has not ended. Others may have it once
/// nothing of it acts here.
void run_table::forget(const run_id& id, bool disown, run_effects& out) {
  const auto i = runs_.find(id);
  if (disown && i->second.works) {
    i->second.at = phase::lingering;
    if (!i->second.broken)
      i->second.broken =
          error{errc::internal, run_registry_op, "the run is given up"};
    return;
  }
  out.emplace_back(forget_run{id});
  if (disown) out.emplace_back(disown_run{id});
  runs_.erase(i);
}

// -- what is asked of it ------------------------------------------------------

run_table::entry* run_table::find(const run_id& id) {
  const auto i = runs_.find(id);
  return i == runs_.end() ? nullptr : &i->second;
}

const run_table::entry* run_table::find(const run_id& id) const {
  const auto i = runs_.find(id);
  return i == runs_.end() ? nullptr : &i->second;
}

bool run_table::runs(const run_id& id) const {
  const auto* x = find(id);
  return x != nullptr && x->at == phase::running;
}

std::optional<error> run_table::why_still(const run_id& id) const {
  const auto* x = find(id);
  return x == nullptr ? std::nullopt : x->broken;
}

bool run_table::owns_any() const {
  return std::ranges::any_of(runs_, [](const auto& x) {
    return x.second.at != phase::opening && x.second.at != phase::late;
  });
}

std::size_t run_table::busy() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(runs_, [](const auto& x) {
        const auto at = x.second.at;
        return at == phase::opening || at == phase::running ||
               at == phase::clearing || at == phase::adopting;
      }));
}

}  // namespace riffle::core
