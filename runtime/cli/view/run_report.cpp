// SPDX-License-Identifier: MIT
#include "runtime/cli/view/run_report.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

json error_json(const error& x) {
  return {{"code", to_string(x.code)},
          {"message", x.message},
          {"op", x.op},
          {"retryable", x.retryable}};
}

json tool_json(const events::tool_result& x, std::string title) {
  json out = {{"id", x.id.value},
              {"tool", x.tool},
              {"title", std::move(title)},
              {"outcome", to_string(x.how)},
              {"duration_ms", x.duration_ms},
              {"attempts", x.attempts}};
  if (x.err) {
    out["error"] = {{"code", to_string(x.err->code)},
                    {"message", x.err->message}};
  }
  auto metadata = json::parse(x.metadata, nullptr, false);
  out["metadata"] = metadata.is_object() ? std::move(metadata) : json::object();
  return out;
}

/// By tool, in the order of their first calls.
json sums_of(const json& calls) {
  json out = json::array();
  for (const auto& call : calls) {
    const auto& name = call["tool"];
    auto found = std::ranges::find_if(
        out, [&](const json& x) { return x["name"] == name; });
    if (found == out.end()) {
      out.push_back(
          {{"name", name}, {"calls", 0}, {"failures", 0}, {"duration_ms", 0}});
      found = out.end() - 1;
    }
    auto& sum = *found;
    sum["calls"] = sum["calls"].get<std::uint64_t>() + 1;
    if (call["outcome"] != to_string(outcome::ok))
      sum["failures"] = sum["failures"].get<std::uint64_t>() + 1;
    sum["duration_ms"] = sum["duration_ms"].get<std::uint64_t>() +
                         call["duration_ms"].get<std::uint64_t>();
  }
  return out;
}

}  // namespace

json usage_json(const token_usage& x) {
  json out = {{"input_tokens", x.input_tokens},
              {"output_tokens", x.output_tokens}};
  if (x.cached_tokens) out["cached_tokens"] = *x.cached_tokens;
  if (x.reasoning_tokens) out["reasoning_tokens"] = *x.reasoning_tokens;
  if (x.cost_usd) out["cost_usd"] = *x.cost_usd;
  if (x.estimated) out["estimated"] = true;
  return out;
}

std::string tool_trace(const run_id& run, const events::tool_result& x,
                       const std::string& title) {
  json out = {{"run_id", run.value}};
  out.update(tool_json(x, title));
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string run_report::title_of(const call_id& id) const {
  const auto found = titles_.find(id);
  return found == titles_.end() ? std::string{} : found->second;
}

void run_report::begin_next() {
  run_report next;
  next.add_earlier(*this);
  *this = std::move(next);
}

void run_report::add_earlier(const run_report& x) {
  const auto end = x.finished_.value_or(events::run_finished{});
  earlier_.steps += x.earlier_.steps + end.steps;
  earlier_.tool_calls += x.earlier_.tool_calls + end.tool_calls;
  earlier_.duration_ms += x.earlier_.duration_ms + end.duration_ms;
  add(earlier_.usage, x.usage());
  auto calls = x.calls_;
  calls.insert(calls.end(), calls_.begin(), calls_.end());
  calls_ = std::move(calls);
}

token_usage run_report::usage() const {
  auto out = earlier_.usage;
  add(out, finished_ ? finished_->usage : told_);
  return out;
}

void run_report::on(const event& x) {
  if (const auto* e = std::get_if<events::run_started>(&x.body)) {
    run_ = x.run.value;
    session_ = e->session.value;
    task_ = e->task;
    agent_ = e->agent;
    model_ = e->model;
  } else if (const auto* call = std::get_if<events::tool_call>(&x.body)) {
    titles_[call->id] = call->title;
  } else if (const auto* result = std::get_if<events::tool_result>(&x.body)) {
    calls_.push_back(tool_json(*result, titles_[result->id]));
    titles_.erase(result->id);
  } else if (const auto* r = std::get_if<events::approval_resolved>(&x.body)) {
    if (r->unasked) ++unasked_;
  } else if (const auto* p = std::get_if<events::proposal>(&x.body)) {
    const bool waits = p->source == events::proposal_source::tool_call &&
                       p->status == events::proposal_status::open;
    if (waits) ++proposed_;
  } else if (const auto* step = std::get_if<events::usage>(&x.body)) {
    add(told_, step->tokens);
    last_output_tokens_ =
        step->tokens.estimated ? 0 : step->tokens.output_tokens;
  } else if (const auto* f = std::get_if<events::failure>(&x.body)) {
    failure_ = f->err;
  } else if (const auto* a = std::get_if<events::final_answer>(&x.body)) {
    answer_ = a->content;
    truncated_ = a->truncated;
  } else if (const auto* end = std::get_if<events::run_finished>(&x.body)) {
    finished_ = *end;
  }
}

std::optional<error> run_report::failure() const {
  if (failure_ || !finished_) return failure_;
  return finished_->err;
}

json run_report::to_json() const {
  const auto end = finished_.value_or(events::run_finished{});
  json out = {{"task", task_},
              {"run_id", run_},
              {"session_id", session_},
              {"status", finished_ ? to_string(end.status) : "active"},
              {"answer", answer_}};
  if (truncated_) out["truncated"] = true;
  if (const auto x = failure()) out["error"] = error_json(*x);
  out["model"] = model_;
  out["agent"] = agent_;
  const auto spent = usage();
  out["usage"] = usage_json(spent);
  if (spent.cost_usd) out["cost_usd"] = *spent.cost_usd;
  out["steps"] = earlier_.steps + end.steps;
  out["tool_calls"] = earlier_.tool_calls + end.tool_calls;
  if (unasked_ > 0) out["unasked"] = unasked_;
  out["tools"] = sums_of(calls_);
  out["calls"] = calls_;
  out["duration_ms"] = earlier_.duration_ms + end.duration_ms;
  return out;
}

}  // namespace riffle::cli
