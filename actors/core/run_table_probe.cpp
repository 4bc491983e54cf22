// SPDX-License-Identifier: MIT
// Runs that are suspended, and the runtime's end: a part of the run table. The
// disk is full, or fails: nothing was lost that was acknowledged, so they go on
// from there, by the code of recovery, once the journal takes a write again.
#include <algorithm>
#include <utility>

#include "actors/core/run_table.hpp"

namespace riffle::core {

void run_table::suspend(entry& x, error why, run_effects& out) {
  const auto& id = x.what.run;
  out.emplace_back(note_run{note_run::level::info, id, "is suspended", why});
  x.broken = why;
  x.at = phase::suspended;
  out.emplace_back(close_readers{id, std::move(why)});
  schedule_probe(out);
}

/// One timer for all of them: what refuses one refuses all, mostly.
void run_table::schedule_probe(run_effects& out) {
  if (closing_ || probe_pause_ > duration{}) return;
  probe_pause_ = limits_.probe_base;
  out.emplace_back(probe_later{probe_pause_});
}

run_effects run_table::on_probe() {
  run_effects out;
  const auto next = std::ranges::find_if(runs_, [](const auto& x) {
    return x.second.at == phase::suspended && !x.second.asked;
  });
  if (probed_) return out;
  if (closing_ || next == runs_.end()) {
    probe_pause_ = {};
    return out;
  }
  probed_ = next->first;
  ask(next->second, false, out);
  return out;
}

void run_table::on_probe_answered(bool taken, run_effects& out) {
  probed_.reset();
  const bool any = std::ranges::any_of(
      runs_, [](const auto& x) { return x.second.at == phase::suspended; });
  if (!any || closing_) {
    probe_pause_ = {};
    return;
  }
  // If one is taken, the others need not wait.
  probe_pause_ = taken ? limits_.probe_base
                       : std::min(2 * probe_pause_, limits_.probe_cap);
  out.emplace_back(probe_later{taken ? duration{} : probe_pause_});
}

void run_table::refuse_suspended(entry& x, error why, run_effects& out) {
  const auto id = x.what.run;
  if (x.awaited) refuse_asker(x, why, out);
  if (why.code != errc::storage_unavailable) {
    out.emplace_back(
        note_run{note_run::level::warn, id, "does not go on here", why});
    forget(id, true, out);
  }
  if (probed_ == id)
    on_probe_answered(false, out);
  else
    schedule_probe(out);
}

run_effects run_table::on_shut_down() {
  run_effects out;
  closing_ = true;
  told_closed_ = false;
  for (auto& [id, x] : runs_)
    if (x.at == phase::running || x.at == phase::clearing ||
        x.at == phase::adopting)
      end_for_closing(x, out);
  check_closed(out);
  return out;
}

/// What a person approved gets a moment to act, also if it began only now.
void run_table::end_for_closing(entry& x, run_effects& out) {
  if (x.what.caused) {
    out.emplace_back(end_soon{x.what.run});
    return;
  }
  auto told =
      on_cancel(x.what.run,
                {{errc::cancelled, "run_registry", "the runtime is closing"}});
  std::ranges::move(told, std::back_inserter(out));
}

void run_table::check_closed(run_effects& out) {
  if (!closing_ || told_closed_ || busy() > 0) return;
  told_closed_ = true;
  out.emplace_back(all_runs_ended{});
}

}  // namespace riffle::core
