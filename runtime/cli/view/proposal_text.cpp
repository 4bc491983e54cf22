// SPDX-License-Identifier: MIT
#include "runtime/cli/view/proposal_text.hpp"

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

bool is_call(const proposal& x) {
  return x.what.source == events::proposal_source::tool_call;
}

std::string about(const proposal& x, std::size_t most) {
  const auto text = safe_line(is_call(x) ? x.what.title : x.what.summary, most);
  return is_call(x) ? safe_line(x.what.tool, 64) + ": " + text : text;
}

void append_lines(std::string& out, std::string_view text) {
  for_each_line(safe_text(text), [&](std::string_view line) {
    out.append("│ ").append(line).append("\n");
  });
}

void append_member(std::string& out, std::string_view name,
                   const std::string& value) {
  if (!value.empty()) out.append(name).append(value).append("\n");
}

json value_of(const std::string& text) {
  auto value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

std::map<proposal_id, proposal_id> replacements(
    const std::vector<proposal>& all) {
  std::map<proposal_id, proposal_id> out;
  for (const auto& x : all)
    if (!x.what.replaces.empty()) out[x.what.replaces] = x.what.id;
  return out;
}

std::string status_text(const proposal& x, wall_time now,
                        const proposal_id& by) {
  if (!by.empty()) return "stale";
  const auto how = storage::effective_outcome(x, now);
  return how ? std::string{to_string(*how)} : "open";
}

std::string summary_text(const proposal& x, wall_time now,
                         const proposal_id& by) {
  auto state = status_text(x, now, by);
  state.resize(std::max<std::size_t>(state.size(), 9), ' ');
  return safe_line(x.what.id.value, 64) + "  " + state + "  " + about(x, 100) +
         "  (session " + safe_line(x.what.session.value, 64) +
         (x.what.folder.empty() ? ""
                                : ", in " + safe_line(x.what.folder, 200)) +
         ")\n";
}

std::string whole_text(const proposal& x, wall_time now,
                       const proposal_id& by) {
  std::string out = safe_line(x.what.id.value, 64) + "  " +
                    status_text(x, now, by) + "  " + about(x, 500) + "\n";
  if (is_call(x)) append_lines(out, x.what.arguments);
  append_lines(out, is_call(x) ? x.what.preview : x.what.summary);
  append_member(out, "reason:   ", safe_line(x.what.reason, 500));
  append_member(out, "session:  ", safe_line(x.what.session.value, 128));
  append_member(out, "folder:   ", safe_line(x.what.folder, 500));
  if (x.what.can_always)
    append_member(out, "always:   ",
                  "call" +
                      (x.what.pattern.empty()
                           ? std::string{}
                           : ", pattern " + safe_line(x.what.pattern, 200)) +
                      ", tool");
  append_member(out, "replaces: ", safe_line(x.what.replaces.value, 64));
  append_member(out, "now:      ", safe_line(by.value, 64));
  append_member(out, "made:     ", to_string(x.what.made));
  if (x.what.expires)
    append_member(out, "expires:  ", to_string(*x.what.expires));
  if (!x.decided) return out;
  auto decided = std::string{to_string(x.decided->how)} + " by " +
                 safe_line(x.decided->by, 64) + " at " +
                 to_string(x.decided->at);
  if (!x.decided->reason.empty())
    decided += ": " + safe_line(x.decided->reason, 500);
  append_member(out, "decision: ", decided);
  if (!x.decided->arguments.empty()) {
    out += "with these arguments instead:\n";
    append_lines(out, x.decided->arguments);
  }
  if (by.empty())
    append_member(out, "done by:  ", safe_line(x.executed_by.value, 64));
  return out;
}

json to_json(const proposal& x, wall_time now, const proposal_id& by) {
  json out = {{"proposal_id", x.what.id.value},
              {"status", status_text(x, now, by)},
              {"source", to_string(x.what.source)},
              {"session_id", x.what.session.value},
              {"run_id", x.what.run.value}};
  if (is_call(x)) {
    out["call_id"] = x.what.call.value;
    out["tool"] = x.what.tool;
    out["arguments"] = value_of(x.what.arguments);
  }
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  add("title", x.what.title);
  add("summary", x.what.summary);
  add("preview", x.what.preview);
  add("reason", x.what.reason);
  add("folder", x.what.folder);
  add("digest", x.what.digest);
  if (x.what.can_always) out["always"] = true;
  add("pattern", x.what.pattern);
  add("replaces", x.what.replaces.value);
  add("replaced_by", by.value);
  out["made"] = to_string(x.what.made);
  if (x.what.expires) out["expires_at"] = to_string(*x.what.expires);
  if (!x.decided) return out;
  json decision = {{"decision", to_string(x.decided->how)},
                   {"by", x.decided->by},
                   {"at", to_string(x.decided->at)}};
  if (!x.decided->reason.empty()) decision["reason"] = x.decided->reason;
  if (!x.decided->arguments.empty())
    decision["arguments"] = value_of(x.decided->arguments);
  if (x.decided->always != always_scope::none)
    decision["always"] = to_string(x.decided->always);
  out["decided"] = std::move(decision);
  if (by.empty()) add("executed_by", x.executed_by.value);
  return out;
}

std::string grant_text(const grant_record& x) {
  std::string covers;
  switch (x.scope) {
    case always_scope::tool: covers = "every call"; break;
    case always_scope::pattern:
      covers = "calls that match " + safe_line(x.what, 200);
      break;
    default: covers = "the call " + safe_line(x.what, 200); break;
  }
  return safe_line(x.proposal.value, 64) + "  " + safe_line(x.tool, 64) + ": " +
         covers + "  (by " + safe_line(x.by, 64) + " at " + to_string(x.at) +
         ", session " + safe_line(x.session.value, 64) + ", in " +
         safe_line(x.folder, 200) + ")\n";
}

json to_json(const grant_record& x) {
  json out = {{"proposal_id", x.proposal.value},
              {"session_id", x.session.value},
              {"folder", x.folder},
              {"tool", x.tool},
              {"scope", to_string(x.scope)}};
  if (x.scope == always_scope::pattern) out["pattern"] = x.what;
  if (x.scope == always_scope::call) out["arguments"] = value_of(x.what);
  out["by"] = x.by;
  out["at"] = to_string(x.at);
  return out;
}

}  // namespace riffle::cli
