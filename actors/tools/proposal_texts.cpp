// SPDX-License-Identifier: MIT
#include "actors/tools/proposal_texts.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "messages/runtime_note.hpp"

namespace riffle {

namespace {

constexpr std::string_view by_rule = "the configuration";
constexpr std::string_view not_this_call = " does not allow this call of `";
constexpr std::string_view named_rule = " (rule `";
constexpr std::string_view in_doubt = "` cannot be told apart from what `deny ";

bool is_by_rule(std::string_view why) {
  return why.starts_with(by_rule) && why.find(not_this_call) != why.npos;
}

bool is_in_doubt(std::string_view why) {
  return why.starts_with("this call of `") && why.find(in_doubt) != why.npos;
}

bool is_by_node(std::string_view why) {
  return why.starts_with("the node wants this call of `");
}

/// Nobody has thought about this call: the reason says all.
bool says_all(std::string_view why) {
  return why == nobody_there || why == not_allowed || is_by_rule(why) ||
         is_in_doubt(why);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string kept_back_by_rule(std::string_view tool, std::string_view rule,
                              std::string_view where) {
  auto out = std::string{by_rule}
                 .append(where)
                 .append(not_this_call)
                 .append(tool)
                 .append("`");
  if (!rule.empty()) out.append(named_rule).append(rule).append("`)");
  return out;
}

std::string kept_back_in_doubt(std::string_view tool,
                               std::string_view pattern) {
  return std::string{"this call of `"}
      .append(tool)
      .append(in_doubt)
      .append(pattern)
      .append("` forbids");
}

std::string kept_back_by_node(std::string_view tool) {
  return std::string{"the node wants this call of `"}.append(tool).append(
      "` to be approved, and nobody was asked");
}

std::string denial_text(const storage::decision_record& x) {
  switch (x.how) {
    case events::proposal_outcome::approved: return {};
    case events::proposal_outcome::denied:
      if (says_all(x.reason)) return x.reason;
      return "denied by " + x.by +
             (x.reason.empty() ? std::string{} : ": " + x.reason);
    case events::proposal_outcome::expired: return expired;
    case events::proposal_outcome::cancelled: break;
  }
  return withdrawn;
}

namespace {

std::string_view behind(std::string_view text, std::string_view begin) {
  const auto at = text.find(begin);
  return at == text.npos ? std::string_view{} : text.substr(at + begin.size());
}

/// `call`: what stands behind the first '`'; `rule`: where its pattern begins.
std::string named(std::string_view call, std::string_view rule) {
  return std::string{"rule `"}
      .append(rule.substr(0, rule.rfind('`')))
      .append("` of tools.")
      .append(call.substr(0, call.find('`')));
}

std::string rule_for_people(std::string_view why) {
  const auto call = behind(why, not_this_call);
  const auto rule = behind(call, named_rule);
  if (!rule.empty()) return named(call, rule);
  return std::string{why.substr(0, why.find(not_this_call))} +
         " does not allow it";
}

/// Somebody did, and not a choice that was made ahead for all calls.
std::string said_no(std::string_view by, std::string_view reason) {
  constexpr std::string_view http = "http:";
  const bool over_http = by.starts_with(http);
  if (over_http) by.remove_prefix(http.size());
  auto out = by == "user" && !over_http ? std::string{"you said no"}
                                        : std::string{by}.append(" said no");
  if (over_http) out.append(" over HTTP");
  return reason.empty() ? out : out.append(": ").append(reason);
}

bool is_nobody(std::string_view by) {
  return by.empty() || by == "policy" || by == "riffle" ||
         by.starts_with("-") || by.starts_with("/") ||
         by.starts_with("always (");
}

}  // namespace

std::string denial_for_people(std::string_view why, std::string_view by) {
  if (why == nobody_there) return "nobody is there to decide";
  // By an option or a command: where it is read nobody knows which.
  if (why == not_allowed) return "this run approves no calls";
  if (why == expired) return "nobody decided in time";
  if (why == stale_reason)
    return "it changed since it was shown; it is asked for again";
  if (why == unseen_reason)
    return "nothing shown could be compared; it is asked for again";
  if (is_by_rule(why)) return rule_for_people(why);
  if (is_in_doubt(why)) {
    const auto call = behind(why, "`");
    return named(call, behind(call, in_doubt)) + " may forbid it";
  }
  if (is_by_node(why)) return "its node asks for approval, and nobody did here";
  constexpr std::string_view denied_by = "denied by ";
  if (is_nobody(by) && why.starts_with(denied_by)) {
    const auto who = why.substr(denied_by.size());
    const auto end = std::min(who.find(": "), who.size());
    return said_no(who.substr(0, end),
                   who.substr(std::min(end + 2, who.size())));
  }
  return is_nobody(by) ? std::string{why.empty() ? by : why} : said_no(by, why);
}

std::string denial_advice(const error& why) {
  constexpr const char* go_on = "; go on without it, or say what you would do";
  if (why.code == errc::approval_expired) return go_on;
  // What a tool says of itself is no decision, whatever its words are.
  if (why.code != errc::approval_denied) return {};
  if (why.message.starts_with("needs approval, proposal "))
    return ". Go on without it; if it is approved, it is executed then, and "
           "you are told the result later. Do not ask for it again";
  if (is_by_rule(why.message)) return "; do not try it again in another form";
  if (is_in_doubt(why.message))
    return "; say it more plainly: commands without expansions, escapes or "
           "programs that run others, places that are there";
  const bool plain = says_all(why.message) || is_by_node(why.message) ||
                     (why.message.starts_with("denied by ") &&
                      why.message.find(": ") == std::string::npos);
  return plain ? go_on : "";
}

std::string proposed(const storage::proposal_record& x) {
  return "needs approval, proposal " + x.id.value +
         ": it was not executed and waits for a person's decision";
}

std::string stale(const storage::proposal_record& x,
                  const storage::proposal_record& shown) {
  return std::string{shown.definition.empty()
                         ? "what was approved was shown without a look at its "
                           "tool, so"
                         : "what was approved has changed since it was shown, "
                           "so"} +
         " nothing was executed; proposal " + x.id.value +
         " shows it as it is now and waits for a decision";
}

namespace {

/// The file that one of our tools changes; of others nobody knows.
std::string what_it_changes(const tool_call& call) {
  const auto given = nlohmann::json::parse(call.arguments, nullptr, false);
  const bool ours = call.tool == "write" || call.tool == "edit";
  if (!ours || !given.is_object() || !given.contains("path") ||
      !given["path"].is_string())
    return "what it works on";
  return given["path"].get<std::string>();
}

std::string because(const tool_call& call, again_because why) {
  switch (why) {
    case again_because::changed: break;
    case again_because::tool: return "its tool is another one now";
    case again_because::unseen: return "nobody had looked at it";
    case again_because::failure: return "a call before it did not end well";
  }
  return what_it_changes(call) + " has changed since it was shown";
}

}  // namespace

std::string again_reason(const tool_call& call, again_because why) {
  return "asked again: " + because(call, why);
}

std::string asked_again(const tool_call& call, again_because why) {
  return std::string{asks_again} +
         (call.title.empty() ? call.tool : call.title) + ": " +
         because(call, why);
}

std::string grant_text(const storage::grant_record& x) {
  const auto from = " (" + x.proposal.value + ")";
  switch (x.scope) {
    case always_scope::call: return "always for this call" + from;
    case always_scope::pattern: return "always for " + x.what + from;
    default: return "always for " + x.tool + from;
  }
}

std::string bad_approval(const error& why) {
  return "it was approved, but cannot run like that: " + why.message;
}

namespace {

/// When the proposal stopped being open.
std::optional<wall_time> settled_at(const storage::proposal_state& x,
                                    wall_time now) {
  if (x.decided) return x.decided->at;
  return storage::effective_outcome(x, now) ? x.what.expires : std::nullopt;
}

std::string decision_line(const storage::proposal_state& x) {
  const auto head =
      "- " + x.what.id.value + " (" + first_line(x.what.summary) + "): ";
  if (!x.decided || x.decided->how == events::proposal_outcome::expired)
    return head + "nobody decided in time\n";
  auto line = head + std::string{to_string(x.decided->how)};
  if (!x.decided->by.empty()) line += " by " + x.decided->by;
  if (!x.decided->reason.empty()) line += ": " + x.decided->reason;
  return line + '\n';
}

}  // namespace

std::string decision_note(const storage::session_snapshot& session,
                          const run_id& next, wall_time now) {
  std::optional<wall_time> before;
  for (const auto& run : session.runs)
    if (run.id != next) before = run.started;
  if (!before) return {};
  std::string lines;
  for (const auto& x : session.proposals) {
    const bool executed = x.what.source == events::proposal_source::tool_call &&
                          x.decided &&
                          x.decided->how == events::proposal_outcome::approved;
    const auto at = settled_at(x, now);
    if (x.what.waits || executed || !at || *at < *before) continue;
    lines += decision_line(x);
  }
  if (lines.empty()) return {};
  std::string note{runtime_note};
  note += "What was decided about your proposals:\n";
  return note += lines;
}

std::string edit_note(const tool_call& call) {
  return "[The person who approved this call changed its arguments. What "
         "really ran: " +
         call.tool + " " + call.arguments + "]\n";
}

events::approval_required required_event(const storage::proposal_record& x) {
  return {x.id,     x.call,    x.tool,   x.title,      x.arguments, x.preview,
          x.reason, x.expires, x.digest, x.can_always, x.pattern};
}

events::proposal proposal_event(const storage::proposal_record& x,
                                events::proposal_status status) {
  return {x.id, x.source, x.summary, status};
}

events::proposal_status status_of(events::proposal_outcome x) {
  switch (x) {
    case events::proposal_outcome::approved:
      return events::proposal_status::approved;
    case events::proposal_outcome::denied:
      return events::proposal_status::denied;
    default: return events::proposal_status::expired;
  }
}

}  // namespace riffle
