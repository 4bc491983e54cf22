// SPDX-License-Identifier: MIT
#include "runtime/cli/view/results.hpp"

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/run_stats.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t longest_title = 200;
constexpr std::size_t longest_message = 2000;

/// A task that had no run, or whose run is not on record here.
json without_run(const told_result& x) {
  json out = {{"task", x.task}};
  if (x.session) out["session_id"] = x.session->value;
  out["status"] = to_string(x.result.status);
  out["answer"] = "";
  if (const auto& why = x.result.failure)
    out["error"] = {{"code", to_string(why->code)},
                    {"message", why->message},
                    {"op", why->op},
                    {"retryable", why->retryable}};
  if (!x.agent.empty()) out["agent"] = x.agent;
  const auto spent = x.report.usage();
  if (spent == token_usage{}) return out;
  out["usage"] = usage_json(spent);
  if (spent.cost_usd) out["cost_usd"] = *spent.cost_usd;
  return out;
}

}  // namespace

json totals_json(const token_usage& x) {
  json out = {{"usage", usage_json(x)}};
  if (x.cost_usd) out["cost_usd"] = *x.cost_usd;
  return out;
}

std::string results_json(const std::vector<told_result>& all,
                         const std::string& volley) {
  json results = json::array();
  token_usage sum;
  for (const auto& x : all) {
    auto one = x.report.finished() ? x.report.to_json() : without_run(x);
    if (x.result.attempts > 0) one["attempts"] = x.result.attempts;
    results.push_back(std::move(one));
    add(sum, x.report.usage());
  }
  json out = {{"results", std::move(results)}, {"totals", totals_json(sum)}};
  if (!volley.empty()) out["volley_id"] = volley;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

exit_status status_of(const told_result& x) {
  const auto& result = x.result;
  const auto& why = result.failure;
  switch (result.status) {
    case task_status::completed:
      return x.report.unasked() > 0 ? unasked : completed;
    case task_status::failed:
      return status_of(events::run_status::failed,
                       why ? std::optional{why->code} : std::nullopt);
    case task_status::not_run:
    case task_status::cancelled: break;
  }
  if (why && why->code == errc::timeout) return out_of_time;
  if (result.status == task_status::not_run)
    return completed;  // others say why
  const auto said = x.report.failure();
  const bool failed_fast =
      said && said->message.find(service::failed_fast) != std::string::npos;
  return failed_fast ? completed : interrupted_by_user;
}

std::string result_text(const told_result& x, const std::string& place,
                        const std::string& answer) {
  auto out = place.empty()
                 ? place
                 : place + " " + safe_line(x.task, longest_title) + "\n";
  if (x.result.status == task_status::completed) {
    out += answer;
  } else {
    out += "(" + std::string{to_string(x.result.status)};
    if (const auto& why = x.result.failure) {
      const bool said = to_string(why->code) == to_string(x.result.status);
      out += ": " + (said ? safe_line(why->message, longest_message)
                          : error_text(*why, longest_message));
    }
    out += ")";
  }
  if (!out.ends_with('\n')) out += '\n';
  return out + "\n";
}

std::string sum_text(const volley_sum& x) {
  auto out = counted(x.done + x.failed + x.stopped + x.not_run, "task") + ": " +
             std::to_string(x.done) + " done";
  const auto say = [&](std::size_t n, const char* what) {
    if (n > 0) out += ", " + std::to_string(n) + what;
  };
  say(x.failed, " failed");
  say(x.stopped, " stopped");
  say(x.not_run, " not run");
  if (x.usage.input_tokens + x.usage.output_tokens > 0)
    out += ", " + counted(x.usage.input_tokens, "token") + " in, " +
           counted(x.usage.output_tokens, "token") + " out";
  if (x.usage.cost_usd) out += ", " + money_text(*x.usage.cost_usd);
  return out + " — " + short_duration(x.took_ms);
}

}  // namespace riffle::cli
