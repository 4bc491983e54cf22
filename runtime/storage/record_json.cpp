// SPDX-License-Identifier: MIT
#include "runtime/storage/record_json.hpp"

#include "runtime/storage/record_detail.hpp"

namespace riffle::storage {

using namespace record_detail;

namespace {

// Each writer names all members by a structured binding, so that a record
// that grows does not compile before its new member is stored.

json to_value(const token_usage& x) {
  const auto& [input, output, cached, reasoning, cost, estimated] = x;
  json to{{"input_tokens", input}, {"output_tokens", output}};
  put(to, "cached_tokens", cached);
  put(to, "reasoning_tokens", reasoning);
  put(to, "cost_usd", cost);
  if (estimated) to["estimated"] = true;
  return to;
}

token_usage usage_from(const json& from) {
  token_usage x;
  get(from, "input_tokens", x.input_tokens);
  get(from, "output_tokens", x.output_tokens);
  get(from, "cached_tokens", x.cached_tokens);
  get(from, "reasoning_tokens", x.reasoning_tokens);
  get(from, "cost_usd", x.cost_usd);
  get(from, "estimated", x.estimated);
  return x;
}

json to_value(const error& x) {
  const auto& [code, op, message, retryable, cause] = x;
  return {{"op", op},
          {"code", to_string(code)},
          {"message", message},
          {"retryable", retryable},
          {"cause", cause}};
}

std::optional<error> error_from(const json& from, const char* key) {
  const auto i = from.find(key);
  if (i == from.end()) return std::nullopt;
  error x;
  get(*i, "op", x.op);
  get_enum(*i, "code", errc::internal, x.code);
  get(*i, "message", x.message);
  get(*i, "retryable", x.retryable);
  get(*i, "cause", x.cause);
  return x;
}

json to_value(const call_limits& x) {
  const auto& [timeout, idle_timeout, queue_timeout, attempts, priority] = x;
  return {{"timeout", timeout.count()},
          {"idle_timeout", idle_timeout.count()},
          {"queue_timeout", queue_timeout.count()},
          {"attempts", attempts},
          {"priority", priority}};
}

call_limits limits_from(const json& from) {
  call_limits x;
  get(from, "timeout", x.timeout);
  get(from, "idle_timeout", x.idle_timeout);
  get(from, "queue_timeout", x.queue_timeout);
  get(from, "attempts", x.attempts);
  get(from, "priority", x.priority);
  return x;
}

json to_value(const tool_call& x) {
  const auto& [id, provider_id, tool, title, arguments, arguments_text,
               edited_from, eff, idempotent, control, needs_approval, step,
               index, keys, limits, judged, rejection, basis] = x;
  json to{{"id", id.value},
          {"provider_id", provider_id},
          {"tool", tool},
          {"title", title},
          {"arguments", arguments},
          {"arguments_text", arguments_text},
          {"edited_from", edited_from},
          {"effect", to_string(eff)},
          {"idempotent", idempotent},
          {"control", control},
          {"needs_approval", needs_approval},
          {"step", step},
          {"index", index},
          {"keys", keys},
          {"limits", to_value(limits)}};
  if (judged) to["judged"] = *judged;
  if (rejection) to["rejection"] = to_value(*rejection);
  if (!basis.empty()) to["basis"] = basis;
  return to;
}

tool_call tool_call_from(const json& from) {
  tool_call x;
  get(from, "id", x.id);
  get(from, "provider_id", x.provider_id);
  get(from, "tool", x.tool);
  get(from, "title", x.title);
  get(from, "arguments", x.arguments);
  get(from, "arguments_text", x.arguments_text);
  get(from, "edited_from", x.edited_from);
  get_enum(from, "effect", effect::mutating, x.eff);
  get(from, "idempotent", x.idempotent);
  get(from, "control", x.control);
  get(from, "needs_approval", x.needs_approval);
  get(from, "step", x.step);
  get(from, "index", x.index);
  get(from, "keys", x.keys);
  if (const auto i = from.find("limits"); i != from.end())
    x.limits = limits_from(*i);
  if (const auto i = from.find("judged"); i != from.end())
    x.judged = i->get<std::string>();
  x.rejection = error_from(from, "rejection");
  get(from, "basis", x.basis);
  return x;
}

json to_value(const attempt_record& x) {
  const auto& [number, began, ended, lost] = x;
  json to{{"number", number}, {"began", began.us}};
  if (ended) to["ended"] = ended->us;
  if (!lost.empty()) to["lost"] = lost;
  return to;
}

attempt_record attempt_from(const json& from) {
  attempt_record x;
  get(from, "number", x.number);
  get(from, "began", x.began.us);
  if (const auto i = from.find("ended"); i != from.end())
    x.ended = wall_time{i->get<std::int64_t>()};
  get(from, "lost", x.lost);
  return x;
}

}  // namespace

std::string to_json(const run_record& x) {
  const auto& [id, session, ordinal, state, task, agent, model, settings,
               started, step, step_attempt, attempt_seq, turn_committed,
               turn_safe, tool_calls, usage, recoveries, reminders, plan,
               cause] = x;
  return dump({{"id", id.value},
               {"session", session.value},
               {"ordinal", ordinal},
               {"state", to_string(state)},
               {"task", task},
               {"agent", agent},
               {"model", model},
               {"settings", settings},
               {"started", started.us},
               {"step", step},
               {"step_attempt", step_attempt},
               {"attempt_seq", attempt_seq},
               {"turn_committed", turn_committed},
               {"turn_safe", turn_safe},
               {"tool_calls", tool_calls},
               {"usage", to_value(usage)},
               {"recoveries", recoveries},
               {"reminders", reminders},
               {"plan", plan},
               {"cause", cause.value}});
}

run_record run_from_json(std::string_view text) {
  const auto from = json::parse(text);
  run_record x;
  get(from, "id", x.id);
  get(from, "session", x.session);
  get(from, "ordinal", x.ordinal);
  get_enum(from, "state", run_state::cancelled, x.state);
  get(from, "task", x.task);
  get(from, "agent", x.agent);
  get(from, "model", x.model);
  get(from, "settings", x.settings);
  get(from, "started", x.started.us);
  get(from, "step", x.step);
  get(from, "step_attempt", x.step_attempt);
  get(from, "attempt_seq", x.attempt_seq);
  get(from, "turn_committed", x.turn_committed);
  get(from, "turn_safe", x.turn_safe);
  get(from, "tool_calls", x.tool_calls);
  if (const auto i = from.find("usage"); i != from.end())
    x.usage = usage_from(*i);
  get(from, "recoveries", x.recoveries);
  get(from, "reminders", x.reminders);
  get(from, "plan", x.plan);
  get(from, "cause", x.cause);
  return x;
}

std::string to_json(const message_record& x) {
  const auto& [session, run, step, role, text, reasoning, calls] = x;
  auto ids = json::array();
  for (const auto& id : calls) ids.push_back(id.value);
  return dump({{"session", session.value},
               {"run", run.value},
               {"step", step},
               {"role", to_string(role)},
               {"text", text},
               {"reasoning", reasoning},
               {"calls", std::move(ids)}});
}

message_record message_from_json(std::string_view text) {
  const auto from = json::parse(text);
  message_record x;
  get(from, "session", x.session);
  get(from, "run", x.run);
  get(from, "step", x.step);
  get_enum(from, "role", message_role::assistant, x.role);
  get(from, "text", x.text);
  get(from, "reasoning", x.reasoning);
  if (const auto i = from.find("calls"); i != from.end())
    for (const auto& id : *i) x.calls.push_back({id.get<std::string>()});
  return x;
}

std::string to_json(const call_record& x) {
  const auto& [call, run, stage, attempt, announced, approved, decision_reason,
               how, told, err, attempts] = x;
  json to{{"call", to_value(call)},    {"run", run.value},
          {"stage", to_string(stage)}, {"attempt", attempt},
          {"announced", announced},    {"decision_reason", decision_reason},
          {"how", to_string(how)},     {"told", told}};
  put(to, "approved", approved);
  if (err) to["err"] = to_value(*err);
  for (const auto& one : attempts) to["attempts"].push_back(to_value(one));
  return dump(to);
}

call_record call_from_json(std::string_view text) {
  const auto from = json::parse(text);
  call_record x;
  x.call = tool_call_from(from.at("call"));
  get(from, "run", x.run);
  get_enum(from, "stage", call_stage::settled, x.stage);
  get(from, "attempt", x.attempt);
  get(from, "announced", x.announced);
  get(from, "approved", x.approved);
  get(from, "decision_reason", x.decision_reason);
  get_enum(from, "how", outcome::timed_out, x.how);
  get(from, "told", x.told);
  if (const auto a = from.find("approved"); a != from.end())
    x.approved = a->get<bool>();
  get(from, "decision_reason", x.decision_reason);
  x.err = error_from(from, "err");
  if (const auto i = from.find("attempts"); i != from.end())
    for (const auto& one : *i) x.attempts.push_back(attempt_from(one));
  return x;
}

}  // namespace riffle::storage
