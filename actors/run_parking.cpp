// SPDX-License-Identifier: MIT
// Runs whose journal refused a write: the disk is full, or fails. Nothing of
// them is lost that was acknowledged, so they go on from there, by the code of
// recovery, once the journal takes a write again.
#include <algorithm>
#include <utility>

#include "actors/run_registry.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr const char* op = "run_registry";

}  // namespace

/// Its actors are gone; now its readers, then its work.
void run_registry_state::stand_still(const run_id& id, const error& why) {
  if (why.code != errc::storage_unavailable) {
    give_up(id, why);
    return;
  }
  auto& run = runs.at(id);
  run.broken = why;
  log_warn(op, id.value + " stands still: " + render_chain(why));
  for (const auto& who : std::exchange(run.readers, {})) who->closed(why);
  end_work_of(id, [this, id, why] { set_aside(id, why); });
}

void run_registry_state::set_aside(const run_id& id, const error& why) {
  auto& run = runs.at(id);
  parked.insert_or_assign(
      id, parked_run{run.spec, why, std::move(run.end), false, run.deadline});
  runs.erase(id);
  schedule_probe();
  answer_shut_down();
}

/// One timer for all of them: what refuses one refuses all, mostly.
void run_registry_state::schedule_probe() {
  if (closing || parked.empty() || probe_pause > duration{}) return;
  probe_pause = setup.probe_base;
  self->delayed_send(self, probe_pause, probe_journal{});
}

void run_registry_state::on_probe() {
  const auto next = std::ranges::find_if(
      parked, [](const auto& x) { return !x.second.adopting; });
  if (closing || next == parked.end()) {
    probe_pause = {};
    return;
  }
  next->second.adopting = true;
  const auto id = next->first;
  ++opening;
  self->request(setup.store, setup.store_deadline, adopt_run_request{id})
      .then([this, id](opened_run& answer) { on_probed(id, answer); },
            [this, id](caf::error& e) {
              opened_run none{nullptr, error{errc::storage_unavailable, op,
                                             "the store did not answer: " +
                                                 self->system().render(e)}};
              on_probed(id, none);
            });
}

void run_registry_state::on_probed(const run_id& id, opened_run& answer) {
  --opening;
  if (answer.failure) {
    on_refused(id, *answer.failure);
    answer_shut_down();
    return;
  }
  log_info(op, id.value + " goes on: the journal takes it again");
  auto old = std::move(parked.at(id));
  parked.erase(id);
  entry run{old.spec,
            {},
            {},
            {},
            core::restart_policy{setup.supervision.intensity,
                                 setup.supervision.period}};
  run.end = std::move(old.end);
  run.deadline = old.deadline;
  auto& mine = runs.insert_or_assign(id, std::move(run)).first->second;
  begin(mine, std::move(answer.snapshot), false);
  if (closing) end_for_closing(mine);
  // The others need not wait.
  probe_pause = {};
  if (!parked.empty()) {
    probe_pause = setup.probe_base;
    self->send(self, probe_journal{});
  }
}

void run_registry_state::on_refused(const run_id& id, const error& why) {
  if (why.code == errc::storage_unavailable) {
    return_parked(id);
    probe_pause = std::min(2 * probe_pause, setup.probe_cap);
  } else {
    log_warn(op, id.value + " does not go on here: " + render_chain(why));
    parked.erase(id);
  }
  if (parked.empty() || closing)
    probe_pause = {};
  else
    self->delayed_send(self, probe_pause, probe_journal{});
}

std::optional<error> run_registry_state::why_parked(const run_id& id) const {
  if (const auto i = runs.find(id); i != runs.end()) return i->second.broken;
  if (const auto i = parked.find(id); i != parked.end()) return i->second.why;
  return std::nullopt;
}

bool run_registry_state::claim_parked(const run_id& id) {
  const auto i = parked.find(id);
  return i == parked.end() || !std::exchange(i->second.adopting, true);
}

void run_registry_state::return_parked(const run_id& id) {
  if (const auto i = parked.find(id); i != parked.end())
    i->second.adopting = false;
}

}  // namespace riffle
