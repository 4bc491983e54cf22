// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"

#include <unordered_map>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/service/views.hpp"

namespace riffle::cli {

namespace {

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

std::string files_text(const std::vector<attachment>& all) {
  std::string out;
  for (const auto& x : all)
    out += "  [attached] " + safe_line(describe(x), 200) + "\n";
  return out;
}

std::string call_text(const storage::call_record& x) {
  return "  [" + safe_line(x.call.tool, 64) + "] " +
         safe_line(x.call.title, 100) + ": " + service::state_of(x) + "\n" +
         files_text(x.attachments);
}

void append_message(std::string& out, const known_calls& all,
                    const storage::message_record& m) {
  const bool user = m.role == storage::message_role::user;
  if (!m.text.empty()) {
    out += (user ? "> " : "") + safe_text(m.text);
    if (!out.ends_with('\n')) out += '\n';
  }
  out += files_text(m.attachments);
  for (const auto& id : m.calls) {
    if (const auto* call = find_call(all, id)) out += call_text(*call);
  }
}

}  // namespace

std::string summary_text(const session_summary& x) {
  auto out = safe_line(x.id.value, 128) + "  " + runs_text(x.runs);
  if (x.runs > 0)
    out += ", " + to_string(x.last.started).substr(0, 19) + "Z, " +
           service::state_of(x) + ": " + safe_line(x.last.task, 60);
  if (const auto volley = volley_of(x.last); x.runs > 0 && !volley.empty())
    out += " [" + safe_line(volley, 64) + "]";
  return out + "\n";
}

std::string conversation_text(const storage::session_snapshot& x,
                              const std::unordered_set<run_id>& interrupted) {
  std::string out;
  const auto all = calls_of(x);
  for (const auto& r : x.runs) {
    out += (out.empty() ? "" : "\n") + safe_line(r.id.value, 64) + ", " +
           to_string(r.started) + ", " + service::state_of(r, interrupted) +
           "\n";
    for (const auto& m : x.messages) {
      if (m.run == r.id) append_message(out, all, m);
    }
  }
  return out;
}

}  // namespace riffle::cli
