// SPDX-License-Identifier: MIT
// Runs and plans as lists, the newest first.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "runtime/http/run_routes.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/service/views.hpp"

namespace riffle::http {

namespace {

/// Where most are passed over, so many are read at a time: with a page for
/// each of a few that are asked for, a token would hold up all others.
constexpr std::size_t passed_over = 200;

std::optional<storage::run_state> state_named(std::string_view word) {
  using storage::run_state;
  for (const auto x : {run_state::active, run_state::completed,
                       run_state::failed, run_state::cancelled})
    if (to_string(x) == word) return x;
  return {};
}

/// What a list is asked for.
struct list_request {
  storage::run_filter of;
  std::size_t limit = 0;
  bool any_state = true;
  bool cut_off = false;  ///< those that nobody works on, else the others
};

tl::expected<list_request, reply> read_list(const request& x) {
  list_request out;
  const auto limit = limit_of(x, out.of.limit);
  if (!limit)
    return tl::unexpected{
        problem(400, "invalid_request", "limit must be 1 to 1000")};
  out.limit = *limit;
  const auto find = [&](const char* key) {
    const auto at = x.query.find(key);
    return at == x.query.end() ? std::string{} : at->second;
  };
  if (const auto word = find("state"); !word.empty()) {
    out.any_state = false;
    out.cut_off = word == "interrupted";
    out.of.state = out.cut_off ? storage::run_state::active : state_named(word);
    if (!out.of.state)
      return tl::unexpected{
          problem(400, "invalid_request",
                  "state must be active, interrupted, completed, failed or "
                  "cancelled")};
  }
  if (auto id = find("session"); !id.empty()) out.of.session = session_id{id};
  if (auto id = find("before"); !id.empty()) out.of.before = run_id{id};
  return out;
}

/// Those that `shows`, each as `written` says.
template <class Shows, class Written>
reply list(const call& x, const char* name, Shows shows, Written written) {
  auto asked = read_list(x.in);
  if (!asked) return std::move(asked.error());
  const auto gone = x.at->parts().sessions.interrupted();
  if (!gone) return problem(gone.error());
  json all = json::array();
  while (all.size() < asked->limit) {
    asked->of.limit = std::max(asked->limit, passed_over);
    const auto runs = x.at->parts().journal->list_runs(asked->of);
    if (!runs) return problem(runs.error());
    for (const auto& run : *runs) {
      const bool cut_off = gone->contains(run.id);
      if (all.size() == asked->limit || !shows(run) || !may_see(*x.who, run) ||
          (!asked->any_state && cut_off != asked->cut_off))
        continue;
      all.push_back(written(run, cut_off));
      shorten_task(all.back());
    }
    if (runs->size() < asked->of.limit) break;
    asked->of.before = runs->back().id;
  }
  return json_reply(200, {{name, std::move(all)}});
}

}  // namespace

void list_runs(call c) {
  work(std::move(c), [](call& x) -> reply {
    if (auto refused =
            refuse_query(x.in, {"state", "session", "limit", "before"}))
      return std::move(*refused);
    // Records of single calls would push runs off it: who wants them names
    // their session.
    const bool named = x.in.query.contains("session");
    return list(
        x, "runs",
        [named](const auto& run) {
          return named || !service::is_single_call(run.session);
        },
        [](const auto& run, bool cut_off) {
          return service::to_json(run, cut_off);
        });
  });
}

void list_plans(call c) {
  work(std::move(c), [](call& x) -> reply {
    if (auto refused = refuse_query(x.in, {"state", "limit", "before"}))
      return std::move(*refused);
    return list(
        x, "plans",
        [](const auto& run) {
          return is_plan(run.id) && !service::is_single_call(run.session);
        },
        plan_summary);
  });
}

}  // namespace riffle::http
