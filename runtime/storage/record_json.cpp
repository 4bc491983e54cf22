// SPDX-License-Identifier: MIT
#include "runtime/storage/record_json.hpp"

#include "runtime/storage/record_members.hpp"

namespace riffle::storage {

// The members of each record under their stored names: one list for writing
// and reading. Each names all of them by a structured binding, so that a
// record that grows does not compile before its new member is stored. What is
// `rare` is stored only where it is not the default.

void members(auto& each, of<token_usage> auto& x) {
  auto& [input, output, cached, reasoning, cost, estimated] = x;
  each("input_tokens", input);
  each("output_tokens", output);
  each("cached_tokens", cached);
  each("reasoning_tokens", reasoning);
  each("cost_usd", cost);
  each.rare("estimated", estimated);
}

void members(auto& each, of<error> auto& x) {
  auto& [code, op, message, retryable, cause] = x;
  each("op", op);
  each("code", code);
  each("message", message);
  each("retryable", retryable);
  each("cause", cause);
}

void members(auto& each, of<call_limits> auto& x) {
  auto& [timeout, idle_timeout, queue_timeout, attempts, priority] = x;
  each("timeout", timeout);
  each("idle_timeout", idle_timeout);
  each("queue_timeout", queue_timeout);
  each("attempts", attempts);
  each("priority", priority);
}

void members(auto& each, of<tool_call> auto& x) {
  auto& [id, provider_id, tool, title, arguments, arguments_text, edited_from,
         eff, idempotent, control, needs_approval, step, index, keys, limits,
         judged, rejection, basis, node] = x;
  each("id", id);
  each("provider_id", provider_id);
  each("tool", tool);
  each("title", title);
  each("arguments", arguments);
  each("arguments_text", arguments_text);
  each("edited_from", edited_from);
  each("effect", eff);
  each("idempotent", idempotent);
  each("control", control);
  each("needs_approval", needs_approval);
  each("step", step);
  each("index", index);
  each("keys", keys);
  each("limits", limits);
  each("judged", judged);
  each("defect", rejection);  // its name in what is stored
  each.rare("basis", basis);
  each.rare("node", node);
}

void members(auto& each, of<attempt_record> auto& x) {
  auto& [number, began, ended, lost] = x;
  each("number", number);
  each("began", began);
  each("ended", ended);
  each.rare("lost", lost);
}

void members(auto& each, of<run_record> auto& x) {
  auto& [id, session, ordinal, state, task, agent, model, settings, started,
         step, step_attempt, attempt_seq, turn_committed, turn_safe, tool_calls,
         usage, recoveries, reminders, plan, cause, phase] = x;
  each("id", id);
  each("session", session);
  each("ordinal", ordinal);
  each("state", state);
  each("task", task);
  each("agent", agent);
  each("model", model);
  each("settings", settings);
  each("started", started);
  each("step", step);
  each("step_attempt", step_attempt);
  each("attempt_seq", attempt_seq);
  each("turn_committed", turn_committed);
  each("turn_safe", turn_safe);
  each("tool_calls", tool_calls);
  each("usage", usage);
  each("recoveries", recoveries);
  each("reminders", reminders);
  each("plan", plan);
  each("cause", cause);
  each.rare("phase", phase);
}

void members(auto& each, of<turn_state> auto& x) {
  auto& [maker, text] = x;
  each("maker", maker);
  each.rare("text", text);
}

void members(auto& each, of<attachment> auto& x) {
  auto& [name, type, bytes, digest] = x;
  each("name", name);
  each("type", type);
  each("bytes", bytes);
  each("digest", digest);
}

void members(auto& each, of<message_record> auto& x) {
  auto& [session, run, step, role, text, reasoning, calls, state, paused,
         attachments] = x;
  each("session", session);
  each("run", run);
  each("step", step);
  each("role", role);
  each("text", text);
  each("reasoning", reasoning);
  each("calls", calls);
  each.rare("state", state);
  each.rare("paused", paused);
  each.rare("attachments", attachments);
}

void members(auto& each, of<call_record> auto& x) {
  auto& [call, run, stage, attempt, announced, approved, decision_reason, how,
         told, err, attempts, attachments] = x;
  each.needed("call", call);
  each("run", run);
  each("stage", stage);
  each("attempt", attempt);
  each("announced", announced);
  each("approved", approved);
  each("decision_reason", decision_reason);
  each("how", how);
  each("told", told);
  each("err", err);
  each.rare("attempts", attempts);
  each.rare("attachments", attachments);
}

void members(auto& each, of<proposal_record> auto& x) {
  auto& [id, session, run, call, source, waits, tool, title, arguments, digest,
         summary, preview, reason, made, expires, folder, definition, basis,
         can_always, pattern, replaces] = x;
  each("id", id);
  each("session", session);
  each("run", run);
  each("call", call);
  each("source", source);
  each("waits", waits);
  each("tool", tool);
  each("title", title);
  each("arguments", arguments);
  each("digest", digest);
  each("summary", summary);
  each("preview", preview);
  each("reason", reason);
  each("made", made);
  each("expires", expires);
  each("folder", folder);
  each("definition", definition);
  each("basis", basis);
  each("can_always", can_always);
  each("pattern", pattern);
  each.rare("replaces", replaces);
}

void members(auto& each, of<decision_record> auto& x) {
  auto& [proposal, how, by, reason, arguments, always, at, digest, kept,
         basis] = x;
  each("proposal", proposal);
  each("how", how);
  each("by", by);
  each("reason", reason);
  each("arguments", arguments);
  each("always", always);
  each("at", at);
  each("digest", digest);
  each.rare("kept", kept);
  each.rare("basis", basis);
}

void members(auto& each, of<grant_record> auto& x) {
  auto& [proposal, session, folder, tool, definition, scope, what, by, at] = x;
  each("proposal", proposal);
  each("session", session);
  each("folder", folder);
  each("tool", tool);
  each("definition", definition);
  each("scope", scope);
  each("what", what);
  each("by", by);
  each("at", at);
}

namespace {

template <class T>
std::string write(const T& x) {
  std::string text;
  text.reserve(1024);  // most calls fit
  record_writer{text}.value(x);
  return text;
}

template <class T>
T read(std::string_view text) {
  T x;
  record_reader{nlohmann::json::parse(text)}.value(x);
  return x;
}

}  // namespace

std::string to_json(const run_record& x) { return write(x); }
std::string to_json(const message_record& x) { return write(x); }
std::string to_json(const call_record& x) { return write(x); }
std::string to_json(const proposal_record& x) { return write(x); }
std::string to_json(const decision_record& x) { return write(x); }
std::string to_json(const grant_record& x) { return write(x); }

run_record run_from_json(std::string_view text) {
  return read<run_record>(text);
}
message_record message_from_json(std::string_view text) {
  return read<message_record>(text);
}
call_record call_from_json(std::string_view text) {
  return read<call_record>(text);
}
proposal_record proposal_from_json(std::string_view text) {
  return read<proposal_record>(text);
}
decision_record decision_from_json(std::string_view text) {
  return read<decision_record>(text);
}
grant_record grant_from_json(std::string_view text) {
  return read<grant_record>(text);
}

}  // namespace riffle::storage
