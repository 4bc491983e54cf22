// SPDX-License-Identifier: MIT
// The stored form of proposals, decisions and grants.
#include "runtime/storage/record_detail.hpp"
#include "runtime/storage/record_json.hpp"

namespace riffle::storage {

using namespace record_detail;

namespace {

/// Version 3 said `true` for the tool.
void get_scope(const json& from, const char* key, always_scope& to) {
  const auto i = from.find(key);
  if (i == from.end()) return;
  if (i->is_boolean())
    to = i->get<bool>() ? always_scope::tool : always_scope::none;
  else
    get_enum(from, key, always_scope::tool, to);
}

}  // namespace

std::string to_json(const proposal_record& x) {
  const auto& [id, session, run, call, source, waits, tool, title, arguments,
               digest, summary, preview, reason, made, expires, folder,
               definition, basis, can_always, pattern, replaces] = x;
  json to{{"id", id.value},
          {"session", session.value},
          {"run", run.value},
          {"call", call.value},
          {"source", to_string(source)},
          {"waits", waits},
          {"tool", tool},
          {"title", title},
          {"arguments", arguments},
          {"digest", digest},
          {"summary", summary},
          {"preview", preview},
          {"reason", reason},
          {"made", made.us}};
  if (expires) to["expires"] = expires->us;
  to["folder"] = folder;
  to["definition"] = definition;
  to["basis"] = basis;
  to["can_always"] = can_always;
  to["pattern"] = pattern;
  if (!replaces.empty()) to["replaces"] = replaces.value;
  return dump(to);
}

proposal_record proposal_from_json(std::string_view text) {
  const auto from = json::parse(text);
  proposal_record x;
  get(from, "id", x.id);
  get(from, "session", x.session);
  get(from, "run", x.run);
  get(from, "call", x.call);
  get_enum(from, "source", events::proposal_source::tool_call, x.source);
  get(from, "waits", x.waits);
  get(from, "tool", x.tool);
  get(from, "title", x.title);
  get(from, "arguments", x.arguments);
  get(from, "digest", x.digest);
  get(from, "summary", x.summary);
  get(from, "preview", x.preview);
  get(from, "reason", x.reason);
  get(from, "made", x.made.us);
  if (const auto i = from.find("expires"); i != from.end())
    x.expires = wall_time{i->get<std::int64_t>()};
  get(from, "folder", x.folder);
  get(from, "definition", x.definition);
  get(from, "basis", x.basis);
  get(from, "can_always", x.can_always);
  get(from, "pattern", x.pattern);
  get(from, "replaces", x.replaces);
  return x;
}

std::string to_json(const decision_record& x) {
  const auto& [proposal, how, by, reason, arguments, always, at, digest] = x;
  return dump({{"proposal", proposal.value},
               {"how", to_string(how)},
               {"by", by},
               {"reason", reason},
               {"arguments", arguments},
               {"always", to_string(always)},
               {"at", at.us},
               {"digest", digest}});
}

decision_record decision_from_json(std::string_view text) {
  const auto from = json::parse(text);
  decision_record x;
  get(from, "proposal", x.proposal);
  get_enum(from, "how", events::proposal_outcome::cancelled, x.how);
  get(from, "by", x.by);
  get(from, "reason", x.reason);
  get(from, "arguments", x.arguments);
  get_scope(from, "always", x.always);
  get(from, "at", x.at.us);
  get(from, "digest", x.digest);
  return x;
}

std::string to_json(const grant_record& x) {
  const auto& [proposal, session, folder, tool, definition, scope, what, by,
               at] = x;
  return dump({{"proposal", proposal.value},
               {"session", session.value},
               {"folder", folder},
               {"tool", tool},
               {"definition", definition},
               {"scope", to_string(scope)},
               {"what", what},
               {"by", by},
               {"at", at.us}});
}

grant_record grant_from_json(std::string_view text) {
  const auto from = json::parse(text);
  grant_record x;
  get(from, "proposal", x.proposal);
  get(from, "session", x.session);
  get(from, "folder", x.folder);
  get(from, "tool", x.tool);
  get(from, "definition", x.definition);
  get_scope(from, "scope", x.scope);
  get(from, "what", x.what);
  get(from, "by", x.by);
  get(from, "at", x.at.us);
  return x;
}

}  // namespace riffle::storage
