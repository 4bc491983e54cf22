// SPDX-License-Identifier: MIT
// What became of volleys, and which there are.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/http/other_routes.hpp"
#include "runtime/http/run_routes.hpp"
#include "runtime/service/views.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::http {

namespace {

/// So many of the newest runs are looked through for tasks of volleys.
constexpr std::size_t most_runs = 20'000;

error no_volley(const std::string& id) {
  return {errc::not_found, "server", "there is no volley \"" + id + "\""};
}

/// How a task stands: its last run, and how many it had.
struct task_account {
  const storage::run_record* last = nullptr;
  std::size_t runs = 0;
};

/// What a volley is asked of.
struct volley_account {
  std::string id;
  const service::volley_record& record;
  bool worked_on = false;
  bool goes_on = false;  ///< a server will go on with it
  std::vector<task_account> tasks{};
  std::unordered_set<run_id> gone{};  ///< runs that nobody works on
};

/// The pause before a further run of a task is none of its states.
bool waits_for_retry(const call& c, const volley_account& x,
                     const task_account& task) {
  if (!x.worked_on || task.runs > x.record.request.max_retries) return false;
  const auto end = c.at->parts().sessions.read_end(task.last->id);
  return end && *end && (*end)->finished.err && (*end)->finished.err->retryable;
}

std::string status_of_task(const call& c, const volley_account& x,
                           const task_account& task) {
  if (task.last == nullptr) return "not_run";
  const auto status = service::state_of(*task.last, x.gone);
  if (status == "failed" && waits_for_retry(c, x, task)) return "active";
  return status;
}

/// By how its tasks stand.
std::string status_of_volley(const call& c, const volley_account& x,
                             const json& tasks) {
  if (x.worked_on) return "active";
  if (x.goes_on) return "interrupted";
  const auto any = [&](std::string_view word) {
    return std::ranges::any_of(
        tasks, [&](const json& y) { return y["status"] == word; });
  };
  if (any("active") || any("interrupted")) return "interrupted";
  const bool left_out = any("not_run") || any("cancelled");
  if (left_out && x.record.request.fail_fast && any("failed")) return "failed";
  const auto& journal = c.at->parts().journal;
  if (any("cancelled") ||
      (left_out && service::asked_volley_end(*journal, x.id)))
    return "cancelled";
  if (left_out) return "interrupted";
  return any("failed") ? "failed" : "completed";
}

json tasks_of(const call& c, const volley_account& x) {
  json out = json::array();
  for (std::size_t i = 0; i < x.tasks.size(); ++i) {
    const auto& asked = x.record.request.tasks[i];
    const auto& task = x.tasks[i];
    out.push_back({{"task", asked.task},
                   {"session_id", asked.session->value},
                   {"status", status_of_task(c, x, task)}});
    if (task.last != nullptr) out.back()["run_id"] = task.last->id.value;
  }
  return out;
}

reply shown_volley(call& c) {
  const auto& id = c.names.at(0);
  const auto record = visible_volley(c, id);
  if (!record) return problem(record.error());
  volley_account x{id, *record, c.at->parts().volleys.is_worked_on(id)};
  const auto left = c.at->volleys()->is_left(id);
  if (!left) return problem(left.error());
  x.goes_on = *left;
  auto runs =
      service::placed_runs_of_volley(*c.at->parts().journal, id, *record);
  if (!runs) return problem(runs.error());
  auto gone = c.at->parts().sessions.interrupted();
  if (!gone) return problem(gone.error());
  x.gone = std::move(*gone);
  x.tasks.resize(record->request.tasks.size());
  json list = json::array();
  token_usage spent;
  for (const auto& [place, run] : *runs) {
    if (place >= x.tasks.size()) continue;
    x.tasks[place].last = &run;
    ++x.tasks[place].runs;
    add(spent, run.usage);
    list.push_back(service::to_json(run, x.gone.contains(run.id)));
    add_end(c, run, list.back());
  }
  auto tasks = tasks_of(c, x);
  auto status = status_of_volley(c, x, tasks);
  return json_reply(200, {{"volley_id", id},
                          {"status", std::move(status)},
                          {"active", x.worked_on},
                          {"tasks", std::move(tasks)},
                          {"runs", std::move(list)},
                          {"totals", totals_json(spent)}});
}

/// Ids of volleys, the newest first: by their runs, and those that have none
/// yet before them.
expected<std::vector<std::string>> ids_of_volleys(const call& c) {
  const auto noted = c.at->volleys()->unfinished();
  if (!noted) return unexpected{noted.error()};
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  storage::run_filter of;
  of.limit = 1000;
  for (std::size_t looked = 0; looked < most_runs; looked += of.limit) {
    const auto runs = c.at->parts().journal->list_runs(of);
    if (!runs) return unexpected{runs.error()};
    for (const auto& run : *runs)
      if (auto id = volley_of(run); !id.empty() && seen.insert(id).second)
        out.push_back(std::move(id));
    if (runs->size() < of.limit) break;
    of.before = runs->back().id;
  }
  for (const auto& id : *noted)
    if (!seen.contains(id)) out.insert(out.begin(), id);
  return out;
}

}  // namespace

expected<service::volley_record> visible_volley(const call& c,
                                                const std::string& id) {
  if (!service::is_volley(id)) return unexpected{no_volley(id)};
  auto x = service::load_volley(*c.at->parts().journal, id);
  if (!x) return x;
  if (may_see(*c.who, x->request.tasks.front().origin.by)) return x;
  return unexpected{no_volley(id)};
}

void show_volley(call c) { work(std::move(c), shown_volley); }

void list_volleys(call c) {
  work(std::move(c), [](call& x) -> reply {
    if (auto refused = refuse_query(x.in, {"limit", "before"}))
      return std::move(*refused);
    const auto limit = limit_of(x.in, 100);
    if (!limit)
      return problem(400, "invalid_request", "limit must be 1 to 1000");
    auto ids = ids_of_volleys(x);
    if (!ids) return problem(ids.error());
    if (auto refused = drop_before(x.in, *ids, "volley"))
      return std::move(*refused);
    json list = json::array();
    for (const auto& id : *ids) {
      if (list.size() == *limit) break;
      const auto record = visible_volley(x, id);
      if (!record) continue;  // another's, or deleted
      list.push_back({{"volley_id", id},
                      {"active", x.at->parts().volleys.is_worked_on(id)},
                      {"tasks", record->request.tasks.size()},
                      {"task", record->request.tasks.front().task}});
      shorten_task(list.back());
    }
    return json_reply(200, {{"volleys", std::move(list)}});
  });
}

}  // namespace riffle::http
