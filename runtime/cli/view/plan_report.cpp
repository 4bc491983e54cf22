// SPDX-License-Identifier: MIT
#include "runtime/cli/view/plan_report.hpp"

#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/results.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

json error_json(const error& x) {
  return {{"code", to_string(x.code)},
          {"message", x.message},
          {"op", x.op},
          {"retryable", x.retryable}};
}

json step_json(const events::plan_step_finished& x) {
  json out = {{"step", x.step},
              {"id", x.id},
              {"status", to_string(x.status)},
              {"output", x.output},
              {"truncated", x.truncated}};
  if (x.err) out["error"] = error_json(*x.err);
  if (!x.run.empty()) out["run_id"] = x.run.value;
  out["duration_ms"] = x.duration_ms;
  return out;
}

}  // namespace

std::string plan_report::step_mark(std::uint32_t step) const {
  return "[" + std::to_string(step) + "/" + std::to_string(total_) + "] ";
}

void plan_report::on(const event& x) {
  if (const auto* e = std::get_if<events::plan_started>(&x.body)) {
    plan_ = e->plan.value;
    total_ = e->steps;
  } else if (const auto* s = std::get_if<events::plan_step_finished>(&x.body)) {
    steps_.push_back(step_json(*s));
    if (s->err) failed_ = *s;
  } else if (const auto* end = std::get_if<events::plan_finished>(&x.body)) {
    finished_ = *end;
  }
}

void plan_report::count(const event& x) {
  if (const auto* s = std::get_if<events::plan_step_started>(&x.body)) {
    step_ = s->step;
    stats_.try_emplace(step_);
    if (!s->run.empty()) step_of_[s->run.value] = step_;
    return;
  }
  const auto found = step_of_.find(x.run.value);
  const auto step = found == step_of_.end() ? step_ : found->second;
  if (step > 0) stats_[step].on(x);
}

run_stats plan_report::whole() const {
  run_stats all;
  for (const auto& [step, x] : stats_) all.add(x);
  return all;
}

std::string plan_report::stats_text() const {
  std::string out;
  for (const auto& step : steps_) {
    const auto found = stats_.find(step["step"].get<std::uint32_t>());
    if (found == stats_.end()) continue;
    out += step_mark(found->first) +
           safe_line(step["id"].get<std::string>(), 64) + "\n" +
           found->second.to_text(step["status"].get<std::string>());
  }
  return out + whole().to_text("the whole plan");
}

std::string plan_report::to_json(const std::string& session,
                                 std::uint32_t unasked) const {
  const auto end = finished_.value_or(events::plan_finished{});
  json out = {{"plan_id", plan_},
              {"session_id", session},
              {"status", finished_ ? to_string(end.status) : "active"},
              {"answer", end.answer.value_or("")}};
  if (end.err) out["error"] = error_json(*end.err);
  out["steps"] = steps_;
  for (auto& step : out["steps"]) {
    const auto found = stats_.find(step["step"].get<std::uint32_t>());
    const auto x = found == stats_.end() ? run_stats{} : found->second;
    step.update(totals_json(x.usage()));
    step["tools"] = x.tools_json();
  }
  if (unasked > 0) out["unasked"] = unasked;
  out["duration_ms"] = end.duration_ms;
  out["totals"] = totals_json(whole().usage());
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace riffle::cli
