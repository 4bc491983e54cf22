// SPDX-License-Identifier: MIT
#include "messages/run_check.hpp"

#include <string_view>

namespace riffle {

namespace {

run_checker::finding broken(int promise, std::string text) {
  return broken_promise{promise, std::move(text)};
}

std::string of_call(const call_id& id) { return "call " + id.value; }

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

}  // namespace

run_checker::finding run_checker::on_event(const event& x) {
  if (finished_)
    return broken(4, std::string{events::type_name(x.body.index())} +
                         " after " + (is_plan_ ? "plan" : "run") +
                         "_finished, which must be the last event");
  const auto due = seq_ + 1;
  if (!started_) {
    run_ = x.run;
    is_plan_ = std::holds_alternative<events::plan_started>(x.body);
  }
  auto found = check_place(x, due);
  if (!found) found = check_kind(x);
  started_ = true;
  seq_ = x.seq;
  auto other = std::visit([this](const auto& y) { return on(y); }, x.body);
  return found ? found : other;
}

run_checker::finding run_checker::check_place(const event& x,
                                              std::uint64_t due) const {
  const bool is_start = std::holds_alternative<events::run_started>(x.body) ||
                        std::holds_alternative<events::plan_started>(x.body);
  if (x.seq != due)
    return broken(1, "seq " + std::to_string(x.seq) + " where " +
                         std::to_string(due) + " was due");
  if (x.run != run_)
    return broken(
        1, "an event of run " + x.run.value + " among those of " + run_.value);
  if (!started_ && !is_start)
    return broken(1, "the first event is not run_started or plan_started");
  if (started_ && is_start)
    return broken(1,
                  "a second " + std::string{events::type_name(x.body.index())});
  return {};
}

// -- steps ------------------------------------------------------------------

run_checker::finding run_checker::check_open_calls(const char* what) const {
  if (open_.empty()) return {};
  return broken(3, std::string{what} + " while call " + *open_.begin() +
                       " has no tool_result");
}

run_checker::finding run_checker::check_current(std::uint32_t step,
                                                const char* what) const {
  if (step == step_ && step_ > 0 && (!is_plan_ || step_open_)) return {};
  return broken(3, std::string{what} + " of step " + std::to_string(step) +
                       " outside of that step");
}

run_checker::finding run_checker::on(const events::step_start& x) {
  const auto due = step_ + 1;
  auto found = check_open_calls("step_start");
  step_ = x.step;
  ++steps_;
  attempt_ = 1;
  step_seq_ = seq_;
  text_.clear();
  completed_by_call_ = false;
  if (x.step != due)
    return broken(3, "step " + std::to_string(x.step) + " starts where " +
                         std::to_string(due) + " was due");
  if (answer_ || errors_ > 0) return broken(4, "a step after the run's end");
  return found;
}

run_checker::finding run_checker::on(const events::step_restarted& x) {
  const auto due = attempt_ + 1;
  attempt_ = x.attempt;
  std::erase_if(text_, [&](const auto& piece) {
    return piece.first >= x.first_seq && piece.first <= x.last_seq;
  });
  if (auto found = check_current(x.step, "step_restarted")) return found;
  if (auto found = check_open_calls("step_restarted")) return found;
  if (x.attempt != due)
    return broken(3, "attempt " + std::to_string(x.attempt) + " where " +
                         std::to_string(due) + " was due");
  if (x.first_seq < step_seq_ || x.last_seq >= seq_ || x.first_seq > x.last_seq)
    return broken(3, "it withdraws " + std::to_string(x.first_seq) + " to " +
                         std::to_string(x.last_seq) +
                         ", which is no range of events of this step");
  if (answer_ || errors_ > 0)
    return broken(4, "a step restarts after the run's end");
  return {};
}

run_checker::finding run_checker::on(const events::llm_token& x) {
  text_.emplace_back(seq_, x.content);
  return check_current(x.step, "llm_token");
}

run_checker::finding run_checker::on(const events::llm_reasoning& x) {
  return check_current(x.step, "llm_reasoning");
}

run_checker::finding run_checker::on(const events::user_message& x) {
  if (auto found = check_current(x.step, "user_message")) return found;
  if (!text_.empty())
    return broken(3, "user_message of step " + std::to_string(x.step) +
                         " behind text of that step");
  return {};
}

// Usage may come late, when a provider reports it late; never early.
run_checker::finding run_checker::on(const events::usage& x) {
  if (x.step >= 1 && x.step <= step_) return {};
  return broken(
      3, "usage of step " + std::to_string(x.step) + " before that step");
}

// -- calls ------------------------------------------------------------------

run_checker::finding run_checker::on(const events::approval_required& x) {
  auto& c = calls_[x.id.value];
  if (c.at != stage::asked)
    return broken(2, of_call(x.id) + " asks for approval after its tool_call");
  if (c.pending)
    return broken(2, of_call(x.id) + " asks for approval a second time");
  if (!proposals_.insert(x.proposal.value).second)
    return broken(2, "proposal " + x.proposal.value + " is not new");
  c.tool = x.tool;
  c.pending = x.proposal;
  open_.insert(x.id.value);
  return {};
}

run_checker::finding run_checker::on(const events::approval_resolved& x) {
  const auto found = calls_.find(x.id.value);
  if (found == calls_.end() || found->second.pending != x.proposal)
    return broken(2, of_call(x.id) +
                         " has an approval_resolved without its"
                         " approval_required");
  found->second.pending.reset();
  found->second.decision = x.how;
  return {};
}

run_checker::finding run_checker::on(const events::tool_call& x) {
  auto& c = calls_[x.id.value];
  if (c.at != stage::asked)
    return broken(2, of_call(x.id) + " has a second tool_call");
  const bool other_tool = !c.tool.empty() && c.tool != x.tool;
  ++tool_calls_;
  c.at = stage::begun;
  c.tool = x.tool;
  c.started = x.status == events::call_status::starting;
  open_.insert(x.id.value);
  if (c.pending)
    return broken(2, of_call(x.id) +
                         " has its tool_call before its"
                         " approval_resolved");
  if (c.started && c.decision.value_or(events::proposal_outcome::approved) !=
                       events::proposal_outcome::approved)
    return broken(2, of_call(x.id) + " starts though it was not approved");
  if (other_tool)
    return broken(2, of_call(x.id) + " was approved for another tool");
  return check_current(x.step, "tool_call");
}

run_checker::finding run_checker::check_running(const call_id& id,
                                                const std::string& tool,
                                                const char* what) const {
  const auto found = calls_.find(id.value);
  if (found == calls_.end() || found->second.at == stage::asked)
    return broken(2, of_call(id) + " has a " + what + " before its tool_call");
  if (found->second.at == stage::settled)
    return broken(2, of_call(id) + " has a " + what + " after its tool_result");
  if (found->second.tool != tool)
    return broken(2, of_call(id) + " has a " + what + " of tool " + tool +
                         ", its tool_call is of " + found->second.tool);
  return {};
}

run_checker::finding run_checker::on(const events::tool_progress& x) {
  if (auto found = check_running(x.id, x.tool, "tool_progress")) return found;
  if (calls_[x.id.value].started) return {};
  return broken(2, of_call(x.id) + " has a tool_progress and never began");
}

run_checker::finding run_checker::on(const events::tool_result& x) {
  auto found = check_running(x.id, x.tool, "tool_result");
  if (const auto c = calls_.find(x.id.value); c != calls_.end())
    c->second.at = stage::settled;
  open_.erase(x.id.value);
  if (x.tool == "complete" && x.how == outcome::ok) completed_by_call_ = true;
  return found;
}

// -- the end ----------------------------------------------------------------

run_checker::finding run_checker::on(const events::failure& x) {
  ++errors_;
  if (x.step && (*x.step < 1 || *x.step > step_))
    return broken(
        3, "an error of step " + std::to_string(*x.step) + " before that step");
  return {};
}

run_checker::finding run_checker::on(const events::final_answer& x) {
  if (answer_) return broken(4, "a second final_answer");
  answer_ = x;
  return check_counts(x.steps, x.tools, "final_answer");
}

run_checker::finding run_checker::on(const events::run_finished& x) {
  finished_ = true;
  if (!open_.empty())
    return broken(2, "call " + *open_.begin() + " has no tool_result");
  if (auto found = check_end(x.status)) return found;
  if (auto found = check_answer()) return found;
  return check_counts(x.steps, x.tool_calls, "run_finished");
}

run_checker::finding run_checker::check_end(events::run_status status) const {
  const std::string run = "the run " + std::string{to_string(status)};
  if (status == events::run_status::completed) {
    if (!answer_) return broken(4, run + " without a final_answer");
    if (errors_ > 0) return broken(4, run + " with an error");
    return {};
  }
  if (answer_) return broken(4, run + " with a final_answer");
  if (errors_ == 0) return broken(4, run + " without an error");
  return {};
}

run_checker::finding run_checker::check_answer() const {
  if (!answer_ || completed_by_call_) return {};
  std::string text;
  for (const auto& piece : text_) text += piece.second;
  if (text == answer_->content || is_blank(text)) return {};
  return broken(4,
                "the content of final_answer is not the text of the last"
                " step");
}

run_checker::finding run_checker::check_counts(std::uint32_t steps,
                                               std::uint32_t tools,
                                               const char* what) const {
  if (steps != steps_)
    return broken(4, std::string{what} + " counts " + std::to_string(steps) +
                         " steps, the log has " + std::to_string(steps_));
  if (tools != tool_calls_)
    return broken(4, std::string{what} + " counts " + std::to_string(tools) +
                         " tool calls, the log has " +
                         std::to_string(tool_calls_));
  return {};
}

}  // namespace riffle
