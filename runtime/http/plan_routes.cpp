// SPDX-License-Identifier: MIT
// What became of a plan, by its log.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "messages/event.hpp"
#include "messages/event_line.hpp"
#include "runtime/http/run_routes.hpp"
#include "runtime/http/sse.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t page_bytes = 256u << 10;

/// A step that has begun. It has several runs if it was tried again.
struct step_account {
  events::plan_step_started begun{};
  std::optional<events::plan_step_finished> over{};
  std::vector<run_id> runs{};
};

struct plan_account {
  std::uint32_t planned = 0;  ///< steps that it has
  std::map<std::uint32_t, step_account> steps{};
  std::optional<events::plan_finished> end{};

  void note(const event& x);
};

void plan_account::note(const event& x) {
  if (const auto* start = std::get_if<events::plan_started>(&x.body)) {
    planned = start->steps;
  } else if (const auto* begun =
                 std::get_if<events::plan_step_started>(&x.body)) {
    auto& step = steps[begun->step];
    step.begun = *begun;
    step.over.reset();
    if (!begun->run.empty()) step.runs.push_back(begun->run);
  } else if (const auto* over =
                 std::get_if<events::plan_step_finished>(&x.body)) {
    steps[over->step].over = *over;
  } else if (const auto* last = std::get_if<events::plan_finished>(&x.body)) {
    end = *last;
  }
}

/// A page at a time, and of that only what the plan says itself: calls may
/// have put out much.
expected<plan_account> read_account(storage::event_log& log, const run_id& id) {
  plan_account out;
  for (std::uint64_t after = 0;;) {
    const auto page = log.read_events(id, after, page_bytes);
    if (!page) return unexpected{page.error()};
    for (const auto& block : page->blocks) {
      for (std::string_view rest = *block.lines; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (!event_type_of(line).starts_with("plan_")) continue;
        if (const auto x = parse_line(line)) out.note(*x);
      }
      after = block.last_seq;
    }
    if (page->end || page->blocks.empty()) return out;
  }
}

json error_json(const error& x) {
  return {{"code", to_string(x.code)},
          {"op", x.op},
          {"message", x.message},
          {"retryable", x.retryable}};
}

/// `now`: of a step that has not ended.
json step_json(const step_account& x, std::string_view now) {
  const auto over = x.over.value_or(events::plan_step_finished{});
  json out = {{"step", x.begun.step},
              {"id", x.begun.id},
              {"status", x.over ? to_string(over.status) : now},
              {"output", over.output},
              {"truncated", over.truncated}};
  if (over.err) out["error"] = error_json(*over.err);
  if (!x.begun.run.empty()) out["run_id"] = x.begun.run.value;
  out["duration_ms"] = over.duration_ms;
  return out;
}

/// Of all runs of a step. What was deleted meanwhile counts nothing.
token_usage spent_by(storage::session_records& records, const step_account& x) {
  token_usage out;
  for (const auto& id : x.runs)
    if (const auto run = records.load_run(id)) add(out, run->usage);
  return out;
}

reply shown_plan(call& c) {
  const run_id id{c.names.at(0)};
  const auto run = visible_run(c, id);
  if (!run || !is_plan(id))
    return problem(404, "not_found", "there is no plan \"" + id.value + "\"");
  auto& journal = *c.at->parts().journal;
  const auto account = read_account(journal, id);
  if (!account) return problem(account.error());
  bool cut_off = false;
  if (run->state == storage::run_state::active) {
    const auto gone = c.at->parts().sessions.interrupted();
    cut_off = gone && gone->contains(id);
  }
  auto out = plan_summary(*run, cut_off);
  const auto end = account->end.value_or(events::plan_finished{});
  out["planned"] = account->planned;
  out["answer"] = end.answer.value_or("");
  if (end.err) out["error"] = error_json(*end.err);
  out["steps"] = json::array();
  token_usage whole;
  for (const auto& [place, step] : account->steps) {
    const auto spent = spent_by(journal, step);
    add(whole, spent);
    out["steps"].push_back(
        step_json(step, out["status"].get_ref<const std::string&>()));
    out["steps"].back().update(totals_json(spent));
  }
  out["duration_ms"] = end.duration_ms;
  out["totals"] = totals_json(whole);
  return json_reply(200, out);
}

}  // namespace

session_id session_of(const storage::run_record& run) {
  auto steps = service::request_from_json(run.settings).plan_session;
  return is_plan(run.id) && !steps.empty() ? steps : run.session;
}

json plan_summary(const storage::run_record& run, bool cut_off) {
  const bool active = run.state == storage::run_state::active;
  return {{"plan_id", run.id.value},
          {"session_id", session_of(run).value},
          {"status", active && cut_off ? "interrupted" : to_string(run.state)},
          {"task", run.task},
          {"agent", run.agent},
          {"started", to_string(run.started)}};
}

json totals_json(const token_usage& x) {
  json out = {
      {"usage",
       {{"input_tokens", x.input_tokens}, {"output_tokens", x.output_tokens}}}};
  if (x.cost_usd) out["cost_usd"] = *x.cost_usd;
  return out;
}

void show_plan(call c) { work(std::move(c), shown_plan); }

}  // namespace riffle::http
