// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/volley_sessions.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/views.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::ordered_json;
using storage::run_record;
using storage::run_state;

/// Longest wait for the process that works on it.
constexpr auto end_limit = 15s;
constexpr auto between_looks = 50ms;

std::string status_of_task(const run_record* run) {
  return run == nullptr ? "not_run" : std::string{to_string(run->state)};
}

std::string place_of(std::size_t task, const known_volley& x) {
  return "[" + std::to_string(task + 1) + "/" +
         std::to_string(x.record.request.tasks.size()) + "] ";
}

/// One that failed and may run again has not ended with that.
std::string again_text(std::uint32_t tries) {
  if (tries == 0) return {};
  return ", " + std::to_string(tries) + (tries == 1 ? " try" : " tries") +
         " left";
}

int show_text(const sessions_command& x, const known_volley& volley,
              const std::vector<std::uint32_t>& again,
              const service::sessions& all, console& io) {
  const auto& tasks = volley.record.request.tasks;
  io.out.write(x.id + ", " + std::to_string(tasks.size()) +
               (tasks.size() == 1 ? " task, " : " tasks, ") + "in " +
               safe_line(volley.record.folder, 200) + "\n");
  std::set<session_id> told;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* run = volley.last_of(i);
    io.out.write("\n" + place_of(i, volley) + status_of_task(run) +
                 again_text(again[i]) + ": " + safe_line(tasks[i].task, 200) +
                 "\n");
    if (run == nullptr || !told.insert(run->session).second) continue;
    const auto session = all.show(run->session);
    if (!session) return report(session.error(), io);
    io.out.write("session " + run->session.value + "\n\n" +
                 conversation_text(*session, {}, system_wall_time()));
  }
  return io.out.good() ? completed : failed;
}

int show_json(const sessions_command& x, const known_volley& volley,
              const std::vector<std::uint32_t>& again,
              const service::sessions& all, console& io) {
  const auto& tasks = volley.record.request.tasks;
  json out{{"volley_id", x.id},
           {"folder", volley.record.folder},
           {"tasks", json::array()}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* run = volley.last_of(i);
    json one{{"task", tasks[i].task}, {"status", status_of_task(run)}};
    if (again[i] > 0) one["tries_left"] = again[i];
    if (run != nullptr) {
      const auto session = all.show(run->session);
      if (!session) return report(session.error(), io);
      one["run_id"] = run->id.value;
      one["session"] = service::to_json(*session);
    }
    out["tasks"].push_back(std::move(one));
  }
  io.out.write(service::dump(out) + "\n");
  return io.out.good() ? completed : failed;
}

/// What came of its tasks; one that failed and may run again has not ended.
volley_end end_of(const known_volley& x,
                  const std::vector<std::uint32_t>& again) {
  volley_end out{.tasks = x.record.request.tasks.size()};
  for (std::size_t i = 0; i < out.tasks; ++i) {
    const auto* run = x.last_of(i);
    if (run == nullptr) continue;
    out.open = out.open || run->state == run_state::active;
    out.ended += run->state == run_state::completed ||
                 (run->state == run_state::failed && again[i] == 0);
  }
  return out;
}

/// `held`: somebody works on it still.
int report_end(const sessions_command& x, const volley_end& now, bool held,
               console& io) {
  const bool open = held || now.open;
  const auto ended = now.ended;
  const auto tasks = now.tasks;
  if (x.common.output != output_kind::text)
    io.out.write(service::dump(json{{"volley_id", x.id},
                                    {"state", open ? "active" : "cancelled"},
                                    {"ended", ended},
                                    {"tasks", tasks}}) +
                 "\n");
  else if (open)
    io.complain("volley " + x.id +
                " was asked to end and has not yet; 'riffle sessions show " +
                x.id + "' says how it goes on");
  else if (x.common.level != verbosity::quiet)
    io.complain("volley " + x.id + " is cancelled; " + std::to_string(ended) +
                " of " + std::to_string(tasks) +
                " tasks had ended; go on with: riffle sessions resume " + x.id);
  return open ? failed : completed;
}

/// What was left open of one that this process has locked.
expected<void> end_runs(runtime& rt, const known_volley& volley,
                        const std::string& reason) {
  for (const auto& run : volley.runs) {
    if (run.state != run_state::active) continue;
    const auto done = rt.cancel(run.id, reason);
    if (!done) return unexpected{done.error()};
  }
  const auto until = std::chrono::steady_clock::now() + end_limit;
  for (const auto& run : volley.runs)
    while (std::chrono::steady_clock::now() < until) {
      const auto now = rt.find_run(run.id);
      if (!now) return unexpected{now.error()};
      if (now->state != run_state::active) break;
      std::this_thread::sleep_for(between_looks);
    }
  return {};
}

/// Nobody works on it: a runtime of our own ends what was left open.
expected<void> end_here(const sessions_command& x, const volley_store& store,
                        const known_volley& volley) {
  // Who would go on with it later looks for that.
  if (auto ok = service::ask_volley_end(*store.journal, x.id, x.reason); !ok)
    return ok;
  if (!volley.is_active()) return {};
  auto settings = without_keys(store.settings, volley.runs);
  choose_log_level(x.common.level, settings);
  auto rt = runtime::create(std::move(settings), {.owns_process = true});
  if (!rt) return unexpected{rt.error()};
  return end_runs(*rt, volley, x.reason);
}

/// Its process lets go of it, once it has ended what runs. False: it has not
/// yet.
expected<bool> end_there(const sessions_command& x, const volley_store& store) {
  const service::sessions all{store.journal, {}};
  if (auto ok = service::ask_volley_end(*store.journal, x.id, x.reason); !ok)
    return unexpected{std::move(ok.error())};
  std::set<run_id> asked;
  const auto until = std::chrono::steady_clock::now() + end_limit;
  while (std::chrono::steady_clock::now() < until) {
    const auto volley = find_volley(x.id, store);
    if (!volley) return unexpected{volley.error()};
    for (const auto& run : volley->runs) {
      if (run.state != run_state::active || !asked.insert(run.id).second)
        continue;
      if (auto ok = all.ask_end(run.id, x.reason); !ok)
        return unexpected{std::move(ok.error())};
    }
    const auto held = service::lock_volley(store.locks, x.id);
    if (held) return true;
    if (held.error().code != errc::session_busy)
      return unexpected{held.error()};
    std::this_thread::sleep_for(between_looks);
  }
  return false;
}

}  // namespace

int show_volley(const sessions_command& x, const service::sessions& all,
                const volley_store& store, console& io) {
  const auto volley = find_volley(x.id, store);
  if (!volley) return report(volley.error(), io);
  if (x.action == sessions_command::what::show) {
    const auto again = tries_left(*volley, *store.journal);
    if (!again) return report(again.error(), io);
    return x.common.output == output_kind::text
               ? show_text(x, *volley, *again, all, io)
               : show_json(x, *volley, *again, all, io);
  }
  for (const auto& run : volley->runs)
    if (const auto done = print_events(all, run.id, io); !done)
      return report(done.error(), io);
  return io.out.good() ? completed : failed;
}

namespace {

/// Whether somebody would still go on with it, though nobody works on it.
expected<bool> goes_on(const sessions_command& x, const known_volley& volley,
                       bool left, const volley_store& store) {
  if (volley.is_active()) return true;
  if (service::asked_volley_end(*store.journal, x.id)) return false;
  if (left) return true;
  const auto again = tries_left(volley, *store.journal);
  if (!again) return unexpected{again.error()};
  return std::ranges::any_of(*again, [](auto tries) { return tries > 0; });
}

/// False: its process has not ended it yet.
expected<bool> end_volley(const sessions_command& x, const volley_store& store,
                          const known_volley& volley) {
  // Asked before it is locked: the lock of a process that was killed.
  const auto lefts = service::left_volleys(store.locks);
  const bool left = std::ranges::find(lefts, x.id) != lefts.end();
  const auto held = service::lock_volley(store.locks, x.id);
  if (!held && held.error().code != errc::session_busy)
    return unexpected{held.error()};
  if (!held && x.forgets)
    return unexpected{still_works(x.id, "another process")};
  if (!held) return end_there(x, store);
  const auto goes = goes_on(x, volley, left, store);
  if (!goes) return unexpected{goes.error()};
  if (!*goes)
    return unexpected{error{errc::invalid_request, "sessions",
                            "no run of volley " + x.id + " is under way"}};
  if (auto ok = end_here(x, store, volley); !ok)
    return unexpected{std::move(ok.error())};
  return true;
}

}  // namespace

int cancel_volley(const sessions_command& x, const volley_store& store,
                  console& io) {
  auto volley = find_volley(x.id, store);
  if (!volley) return report(volley.error(), io);
  const auto over = end_volley(x, store, *volley);
  if (!over) return report(over.error(), io);
  volley = find_volley(x.id, store);
  if (!volley) return report(volley.error(), io);
  const auto again = tries_left(*volley, *store.journal);
  if (!again) return report(again.error(), io);
  return report_end(x, end_of(*volley, *again), !*over, io);
}

expected<volley_end> end_volley_here(runtime& rt, const volley_store& store,
                                     const std::string& id,
                                     const std::string& reason) {
  auto volley = find_volley(id, store);
  if (!volley) return unexpected{volley.error()};
  const auto held = service::lock_volley(store.locks, id);
  if (!held) return unexpected{held.error()};
  if (auto ok = service::ask_volley_end(*store.journal, id, reason); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = end_runs(rt, *volley, reason); !ok)
    return unexpected{std::move(ok.error())};
  volley = find_volley(id, store);
  if (!volley) return unexpected{volley.error()};
  const auto again = tries_left(*volley, *store.journal);
  if (!again) return unexpected{again.error()};
  return end_of(*volley, *again);
}

}  // namespace riffle::cli
