// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"

#include <unordered_map>

#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

std::string runs_text(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " run" : " runs");
}

using known_calls = std::unordered_map<call_id, const storage::call_record*>;

known_calls calls_of(const storage::session_snapshot& x) {
  known_calls all;
  for (const auto& c : x.calls) all.emplace(c.call.id, &c);
  return all;
}

const storage::call_record* find_call(const known_calls& all,
                                      const call_id& id) {
  const auto found = all.find(id);
  return found == all.end() ? nullptr : found->second;
}

std::string call_state(const storage::call_record& x) {
  const bool settled = x.stage == storage::call_stage::settled;
  return std::string{settled ? to_string(x.how) : to_string(x.stage)};
}

std::string call_text(const storage::call_record& x) {
  return "  [" + safe_line(x.call.tool, 64) + "] " +
         safe_line(x.call.title, 100) + ": " + call_state(x) + "\n";
}

void append_message(std::string& out, const known_calls& all,
                    const storage::message_record& m) {
  const bool user = m.role == storage::message_role::user;
  if (!m.text.empty()) {
    out += (user ? "> " : "") + safe_text(m.text);
    if (!out.ends_with('\n')) out += '\n';
  }
  for (const auto& id : m.calls) {
    if (const auto* call = find_call(all, id)) out += call_text(*call);
  }
}

/// Active and nobody works on it: interrupted.
std::string state_of(const storage::run_record& x,
                     const std::unordered_set<run_id>& gone) {
  const bool left =
      x.state == storage::run_state::active && gone.contains(x.id);
  return left ? "interrupted" : std::string{to_string(x.state)};
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

json call_json(const storage::call_record& c) {
  return {{"id", c.call.id.value},
          {"tool", c.call.tool},
          {"title", c.call.title},
          {"state", call_state(c)}};
}

json message_json(const known_calls& all, const storage::message_record& m) {
  json out = {{"run_id", m.run.value},
              {"step", m.step},
              {"role", to_string(m.role)},
              {"text", m.text}};
  auto calls = json::array();
  for (const auto& id : m.calls) {
    if (const auto* call = find_call(all, id))
      calls.push_back(call_json(*call));
  }
  if (!calls.empty()) out["calls"] = std::move(calls);
  return out;
}

}  // namespace

std::string summary_text(const storage::session_snapshot& x,
                         const std::unordered_set<run_id>& gone) {
  auto out = safe_line(x.session.value, 128) + "  " + runs_text(x.runs.size());
  if (!x.runs.empty()) {
    const auto& last = x.runs.back();
    out += ", " + to_string(last.started).substr(0, 19) + "Z, " +
           state_of(last, gone) + ": " + safe_line(last.task, 60);
  }
  return out + "\n";
}

json summary_json(const storage::session_snapshot& x,
                  const std::unordered_set<run_id>& gone) {
  json out = {{"session_id", x.session.value}, {"runs", x.runs.size()}};
  if (x.runs.empty()) return out;
  out["last_run"] = run_json(x.runs.back());
  out["last_run"]["status"] = state_of(x.runs.back(), gone);
  return out;
}

std::string conversation_text(const storage::session_snapshot& x) {
  std::string out;
  const auto all = calls_of(x);
  for (const auto& r : x.runs) {
    out += (out.empty() ? "" : "\n") + safe_line(r.id.value, 64) + ", " +
           to_string(r.started) + ", " + std::string{to_string(r.state)} + "\n";
    for (const auto& m : x.messages) {
      if (m.run == r.id) append_message(out, all, m);
    }
  }
  return out;
}

json conversation_json(const storage::session_snapshot& x) {
  json out = {{"session_id", x.session.value}};
  const auto all = calls_of(x);
  out["runs"] = json::array();
  for (const auto& r : x.runs) out["runs"].push_back(run_json(r));
  out["messages"] = json::array();
  for (const auto& m : x.messages) {
    out["messages"].push_back(message_json(all, m));
  }
  return out;
}

}  // namespace riffle::cli
