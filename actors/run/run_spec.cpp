// SPDX-License-Identifier: MIT
#include "actors/run/run_spec.hpp"

#include <algorithm>

namespace riffle {

core::step_limits run_spec::step_limits() const {
  core::step_limits x;
  x.max_steps = agent.max_steps;
  x.model_retry = {model.retry.max_attempts, model.retry.base, model.retry.cap};
  x.recovery_attempts = agent.recovery_attempts;
  x.loop_limit = agent.loop_limit;
  x.budget = {agent.budget.tool_calls, agent.budget.tokens,
              agent.budget.cost_usd};
  x.termination = {agent.completion == "tool",
                   agent.max_termination_attempts,
                   agent.auto_complete,
                   agent.silent,
                   agent.phase,
                   agent.tools,
                   agent.exempt_phases};
  x.price = {model.price.input, model.price.output, model.price.cached_input};
  x.one_call = cause.has_value();
  x.before_start = spent;
  if (!cause && answer_problem) {
    x.answer_problem = answer_problem;
    x.answer_form = agent.response_schema.text;
    x.form_by_tool = request.response_schema.empty();
    x.only_completes = std::ranges::all_of(request.tools, [](const auto& tool) {
      return tool.name == "complete";
    });
  }
  return x;
}

core::answer_rule run_spec::answer_rule() const {
  if (cause) return {};
  return {answer_is_arguments, answer_problem};
}

events::run_started started_event(const run_spec& spec,
                                  const storage::run_record& record) {
  std::optional<proposal_id> cause;
  if (spec.cause) cause = spec.cause->what.id;
  return {spec.session,         spec.agent_name, spec.model.model, record.task,
          spec.agent.max_steps, cause,           spec.attachments};
}

std::string run_spec::question() const {
  return context.empty() ? task : task + "\n\nContext:\n" + context;
}

}  // namespace riffle
