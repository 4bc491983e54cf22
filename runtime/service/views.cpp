// SPDX-License-Identifier: MIT
#include "runtime/service/views.hpp"

#include <unordered_map>
#include <utility>

#include "actors/core/control_tools.hpp"

namespace riffle::service {

namespace {

using json = nlohmann::ordered_json;

bool is_call(const storage::proposal_record& x) {
  return x.source == events::proposal_source::tool_call;
}

json value_of(const std::string& text) {
  auto value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

json run_json(const storage::run_record& r) {
  return {{"run_id", r.id.value},
          {"ordinal", r.ordinal},
          {"status", to_string(r.state)},
          {"task", r.task},
          {"agent", r.agent},
          {"model", r.model},
          {"started", to_string(r.started)},
          {"tool_calls", r.tool_calls}};
}

json attachments_json(const std::vector<attachment>& all) {
  auto out = json::array();
  for (const auto& x : all)
    out.push_back({{"name", x.name},
                   {"type", x.type},
                   {"bytes", x.bytes},
                   {"digest", x.digest}});
  return out;
}

json call_json(const storage::call_record& c) {
  json out = {{"id", c.call.id.value},
              {"tool", c.call.tool},
              {"title", c.call.title},
              {"state", state_of(c)}};
  if (!c.attachments.empty())
    out["attachments"] = attachments_json(c.attachments);
  return out;
}

using known_calls = std::unordered_map<call_id, const storage::call_record*>;

json message_json(const known_calls& all, const storage::message_record& m) {
  json out = {{"run_id", m.run.value},
              {"step", m.step},
              {"role", to_string(m.role)},
              {"text", m.text}};
  if (!m.attachments.empty())
    out["attachments"] = attachments_json(m.attachments);
  auto calls = json::array();
  for (const auto& id : m.calls)
    if (const auto found = all.find(id); found != all.end())
      calls.push_back(call_json(*found->second));
  if (!calls.empty()) out["calls"] = std::move(calls);
  return out;
}

json decision_json(const storage::decision_record& x) {
  json out = {
      {"decision", to_string(x.how)}, {"by", x.by}, {"at", to_string(x.at)}};
  if (!x.reason.empty()) out["reason"] = x.reason;
  if (!x.arguments.empty()) out["arguments"] = value_of(x.arguments);
  if (x.always != always_scope::none) out["always"] = to_string(x.always);
  if (x.kept) out["kept"] = true;
  return out;
}

}  // namespace

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string state_of(const storage::call_record& x) {
  const bool settled = x.stage == storage::call_stage::settled;
  return std::string{settled ? to_string(x.how) : to_string(x.stage)};
}

std::string state_of(const session_summary& x) {
  if (x.runs == 0) return "damaged";  // nothing else hides its runs
  return x.interrupted ? "interrupted" : std::string{to_string(x.last.state)};
}

json to_json(const session_summary& x) {
  json out = {{"session_id", x.id.value}, {"runs", x.runs}};
  if (!x.title.empty()) out["title"] = x.title;
  if (x.runs == 0) {
    out["damaged"] = true;
    return out;
  }
  out["last_run"] = to_json(x.last, x.interrupted);
  if (auto folder = folder_of(x.last); !folder.empty())
    out["folder"] = std::move(folder);
  if (auto volley = volley_of(x.last); !volley.empty())
    out["volley_id"] = std::move(volley);
  if (auto plan = plan_of(x.last); !plan.empty())
    out["plan_id"] = std::move(plan);
  return out;
}

json to_json(const storage::run_record& x, bool interrupted) {
  auto out = run_json(x);
  if (interrupted && x.state == storage::run_state::active)
    out["status"] = "interrupted";
  out["session_id"] = x.session.value;
  out["steps"] = x.step;
  out["usage"] = {{"input_tokens", x.usage.input_tokens},
                  {"output_tokens", x.usage.output_tokens}};
  if (!x.phase.empty()) out["phase"] = x.phase;
  if (!x.cause.empty()) out["cause"] = {{"proposal_id", x.cause.value}};
  return out;
}

std::string state_of(const storage::run_record& x,
                     const std::unordered_set<run_id>& interrupted) {
  const bool gone =
      x.state == storage::run_state::active && interrupted.contains(x.id);
  return gone ? "interrupted" : std::string{to_string(x.state)};
}

json to_json(const storage::session_snapshot& x,
             const std::unordered_set<run_id>& interrupted) {
  json out = {{"session_id", x.session.value}};
  known_calls all;
  for (const auto& c : x.calls) all.emplace(c.call.id, &c);
  out["runs"] = json::array();
  for (const auto& r : x.runs)
    out["runs"].push_back(to_json(r, interrupted.contains(r.id)));
  out["messages"] = json::array();
  for (const auto& m : x.messages)
    out["messages"].push_back(message_json(all, m));
  if (!x.runs.empty() && !x.runs.back().plan.empty())
    out["plan"] = value_of(x.runs.back().plan);
  return out;
}

std::string status_of(const proposal_view& x, wall_time now) {
  if (!x.replaced_by.empty()) return "stale";
  const auto how = storage::effective_outcome(x.it, now);
  return how ? std::string{to_string(*how)} : "open";
}

json to_json(const proposal_view& x, wall_time now) {
  const auto& what = x.it.what;
  json out = {{"proposal_id", what.id.value},
              {"status", status_of(x, now)},
              {"source", to_string(what.source)},
              {"session_id", what.session.value},
              {"run_id", what.run.value}};
  if (is_call(what)) {
    out["call_id"] = what.call.value;
    out["tool"] = what.tool;
    out["arguments"] = value_of(what.arguments);
  }
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  add("title", what.title);
  add("summary", what.summary);
  add("preview", what.preview);
  add("reason", what.reason);
  add("folder", what.folder);
  add("digest", what.digest);
  if (what.can_always) out["always"] = true;
  add("pattern", what.pattern);
  add("replaces", what.replaces.value);
  add("replaced_by", x.replaced_by.value);
  out["made"] = to_string(what.made);
  if (what.expires) out["expires_at"] = to_string(*what.expires);
  if (!x.it.decided) return out;
  out["decided"] = decision_json(*x.it.decided);
  if (x.replaced_by.empty()) add("executed_by", x.it.executed_by.value);
  return out;
}

json to_json(const storage::grant_record& x) {
  json out = {{"proposal_id", x.proposal.value},
              {"folder", x.folder},
              {"tool", x.tool},
              {"scope", to_string(x.scope)}};
  if (x.session.value.empty())
    out["kept"] = true;
  else
    out["session_id"] = x.session.value;
  if (x.scope == always_scope::pattern) out["pattern"] = x.what;
  if (x.scope == always_scope::call) out["arguments"] = value_of(x.what);
  out["by"] = x.by;
  out["at"] = to_string(x.at);
  return out;
}

json to_json(const tool_view& x) {
  // They act on the run alone, and nobody is asked about them.
  const bool control = core::is_control_tool(x.spec.name);
  json out = {{"name", x.spec.name},
              {"effect", control ? "control" : to_string(x.spec.eff)},
              {"idempotent", x.idempotent},
              {"approval", control ? "allow" : x.approval},
              {"description", x.spec.description},
              {"parameters", json::parse(x.spec.parameters, nullptr, false)}};
  for (const auto& one : x.outages)
    out["out_of_service"].push_back({{"process", one.process},
                                     {"since", to_string(one.since)},
                                     {"why", one.why}});
  if (!x.unavailable.empty()) out["unavailable"] = x.unavailable;
  return out;
}

}  // namespace riffle::service
