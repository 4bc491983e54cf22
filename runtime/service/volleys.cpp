// SPDX-License-Identifier: MIT
#include "runtime/service/volleys.hpp"

#include <system_error>
#include <unordered_map>
#include <utility>

#include "runtime/service/run_end.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::service {

namespace {

constexpr const char* volley_op = "volley";

/// From the first pause to the longest one between runs of one task.
constexpr duration retry_base = std::chrono::seconds{1};
constexpr duration retry_cap = std::chrono::seconds{60};

expected<void> check_tasks(const volley_request& x) {
  if (x.tasks.empty())
    return unexpected{
        error{errc::invalid_request, volley_op, "a volley needs a task"}};
  if (x.tasks.size() > most_volley_tasks)
    return unexpected{
        error{errc::invalid_request, volley_op,
              "a volley has at most " + std::to_string(most_volley_tasks) +
                  " tasks, not " + std::to_string(x.tasks.size()) +
                  ": give them in several"}};
  for (std::size_t i = 0; i < x.tasks.size(); ++i) {
    const auto place = "task " + std::to_string(i + 1) + " of " +
                       std::to_string(x.tasks.size());
    if (x.tasks[i].task.empty())
      return unexpected{error{errc::invalid_request, volley_op,
                              place + " is empty: say what is to be done"}};
    if (!x.tasks[i].session) continue;
    if (auto ok = check_name(*x.tasks[i].session); !ok)
      return unexpected{
          error{ok.error().code, volley_op, place + ": " + ok.error().message}};
  }
  return {};
}

/// The process ended while the task waited for its next run.
bool may_try_again(const volley_entry& x, std::uint32_t max_retries) {
  return x.ended && x.result.status == task_status::failed &&
         tries_left(x.result.failure, x.result.attempts, max_retries) > 0;
}

/// What is on record of the tasks: the newest run of each says how it stands.
class progress_of_tasks {
 public:
  progress_of_tasks(const std::string& id, storage::journal& journal)
      : id_{id}, journal_{journal} {}

  expected<void> add_to(volley_entry& x) {
    const auto runs = runs_of(*x.request.session);
    if (!runs) return unexpected{runs.error()};
    for (const auto& [task, run] : *runs)
      if (task == x.result.task) note(x, run);
    return x.ended ? read_result(x.result) : expected<void>{};
  }

 private:
  static void note(volley_entry& x, const storage::run_record& run) {
    ++x.result.attempts;
    x.result.run = run.id;
    x.result.runs.push_back(run.id);
    x.result.session = run.session;
    // One that goes on is counted at its end.
    if (run.state != storage::run_state::active)
      riffle::add(x.result.usage, run.usage);
    x.open.reset();
    x.ended = false;
    switch (run.state) {
      case storage::run_state::active: x.open = run.id; return;
      // Somebody ended the volley; going on means to run it.
      case storage::run_state::cancelled: return;
      case storage::run_state::completed:
        x.result.status = task_status::completed;
        break;
      case storage::run_state::failed:
        x.result.status = task_status::failed;
        break;
    }
    x.ended = true;
  }

  /// What its run said in the end.
  expected<void> read_result(task_result& x) const {
    auto end = read_end(journal_, *x.run);
    if (!end) return unexpected{std::move(end.error())};
    if (!*end) return {};
    x.answer = std::move((*end)->answer);
    x.failure = std::move((*end)->finished.err);
    return {};
  }

  /// Tasks that share a session are told apart by their place.
  expected<placed_runs> runs_of(const session_id& session) {
    const auto [i, is_new] = known_.try_emplace(session);
    if (!is_new) return i->second;
    auto some = runs_in_session(journal_, id_, session);
    if (!some) return unexpected{std::move(some.error())};
    i->second = std::move(*some);
    return i->second;
  }

  const std::string& id_;
  storage::journal& journal_;
  std::unordered_map<session_id, placed_runs> known_;
};

}  // namespace

expected<opened_volley> volleys::open(volley_request x, id_source& ids,
                                      std::shared_ptr<volley_listener> who,
                                      volley_run::has_room room) const {
  if (auto ok = check_tasks(x); !ok) return unexpected{std::move(ok.error())};
  auto id = x.id.empty() ? ids.make(volley_prefix) : x.id;
  std::vector<volley_entry> entries;
  for (auto& task : x.tasks) {
    task.stop = {};
    if (!task.session) task.session = ids.next<session_id>();
    volley_entry entry{task};
    entry.result.task = entries.size();
    entries.push_back(std::move(entry));
  }
  auto held = lock_volley(locks_, id);
  if (!held) return unexpected{std::move(held.error())};
  const volley_record record{std::move(x), working_folder(),
                             runs_.configuration()};
  if (auto ok = store_volley(*journal_, id, record); !ok)
    return unexpected{std::move(ok.error())};
  return put_together(std::move(id), record.request, std::move(entries), {},
                      std::move(who), std::move(*held), std::move(room));
}

expected<opened_volley> volleys::reopen(const std::string& id,
                                        resume_options again,
                                        std::shared_ptr<volley_listener> who,
                                        volley_run::has_room room) const {
  // Before it is locked: an id that is none's makes no file.
  if (auto known = load_volley(*journal_, id); !known)
    return unexpected{std::move(known.error())};
  auto held = lock_volley(locks_, id);
  if (!held) return unexpected{std::move(held.error())};
  // Whoever worked on it has ended: what is read now stays.
  auto record = load_volley(*journal_, id);
  if (!record) return unexpected{std::move(record.error())};
  if (auto ok = check_folder(record->folder, "volley " + id); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = ask_volley_end(*journal_, id, {}); !ok)
    return unexpected{std::move(ok.error())};
  progress_of_tasks progress{id, *journal_};
  std::vector<volley_entry> entries;
  for (const auto& task : record->request.tasks) {
    volley_entry entry{task};
    entry.result.task = entries.size();
    if (again.approval) entry.request.approval = *again.approval;
    if (again.model) entry.request.model = again.model;
    if (again.max_steps) entry.request.max_steps = again.max_steps;
    if (again.timeout > duration{}) entry.request.timeout = again.timeout;
    if (auto ok = progress.add_to(entry); !ok)
      return unexpected{std::move(ok.error())};
    if (may_try_again(entry, record->request.max_retries)) {
      entry.ended = false;
      entry.result.status = task_status::not_run;
      entry.result.failure.reset();
    }
    entries.push_back(std::move(entry));
  }
  return put_together(id, record->request, std::move(entries), std::move(again),
                      std::move(who), std::move(*held), std::move(room));
}

expected<opened_volley> volleys::put_together(
    std::string id, const volley_request& x, std::vector<volley_entry> entries,
    resume_options again, std::shared_ptr<volley_listener> who,
    std::shared_ptr<volley_lock> held, volley_run::has_room room) const {
  for (auto& entry : entries) entry.model = runs_.model_of(entry.request);
  opened_volley out;
  out.tasks = entries;
  out.run = std::make_shared<volley_run>(
      id, std::move(entries), std::move(again), runs_, journal_, where_,
      std::move(who), std::move(held),
      [journal = journal_, id] { return asked_volley_end(*journal, id); },
      std::move(room), x.shared);
  if (const auto board = runs_.capacity()) board->add(out.run);
  volley_setup setup;
  setup.limits.workers = x.workers;
  setup.limits.retries = {x.max_retries + 1, retry_base, retry_cap};
  setup.limits.fail_fast = x.fail_fast;
  setup.tasks = out.run->to_schedule();
  setup.port = out.run;
  out.begin = [door = door_, run = out.run, setup = std::move(setup)] {
    door->begin(run, setup);
  };
  out.id = std::move(id);
  return out;
}

}  // namespace riffle::service
