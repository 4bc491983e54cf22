// SPDX-License-Identifier: MIT
// Proposals: what waits for a person, and what was decided.
#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/http/other_routes.hpp"
#include "runtime/service/views.hpp"

namespace riffle::http {

namespace {

bool may_see_proposal(const call& c, const service::proposal_view& x) {
  if (c.who->sees_all) return true;
  const auto run = c.at->parts().sessions.find_run(x.it.what.run);
  return run && may_see(*c.who, *run);
}

bool is_scope(const json& x) {
  const auto scope = parse_always_scope(x.get_ref<const std::string&>());
  return scope && *scope != always_scope::none;
}

expected<decision> read_decision(const json& body, const caller& who) {
  const auto wrong = [](const std::string& what) {
    return unexpected{error{errc::invalid_request, "server", what}};
  };
  decision out;
  out.by = "http:" + who.name;
  for (const auto& [key, value] : body.items()) {
    const bool is_text = value.is_string();
    if (key == "decision" && is_text && (value == "approve" || value == "deny"))
      out.approved = value == "approve";
    else if (key == "decision")
      return wrong("decision must be \"approve\" or \"deny\"");
    else if (key == "arguments" && value.is_object())
      out.arguments = value.dump();
    else if (key == "arguments" && !value.is_null())
      return wrong("arguments must be an object");
    else if (key == "reason" && is_text)
      out.reason = value.get<std::string>();
    else if (key == "digest" && is_text)
      out.digest = value.get<std::string>();
    else if (key == "always" && is_text && is_scope(value))
      out.always = *parse_always_scope(value.get<std::string>());
    else if (key == "always")
      return wrong("always must be \"call\", \"pattern\" or \"tool\"");
    else if (key == "kept" && value.is_boolean())
      out.kept = value.get<bool>();
    else if (key != "arguments")
      return wrong("there is no member \"" + key +
                   "\" of this type; known: decision, arguments, reason, "
                   "digest, always, kept");
  }
  if (!body.contains("decision"))
    return wrong("decision is missing: \"approve\" or \"deny\"");
  const bool lasts = out.always != always_scope::none;
  if (lasts && !out.approved) return wrong("always belongs to an approval");
  if (out.kept && !lasts)
    return wrong("kept belongs to always: it says where that counts");
  return out;
}

reply decided(call& c, const proposal_id& id, decision x) {
  const auto known = c.at->parts().proposals.show(id);
  if (!known) return problem(known.error());
  if (!may_see_proposal(c, *known))
    return problem(404, "not_found",
                   "there is no proposal \"" + id.value + "\"");
  auto done = service::wait_for<service::decision_result>([&](const auto& to) {
    c.at->parts().decisions.decide(id, std::move(x), !c.at->is_stopping(), {},
                                   to);
  });
  if (!done) return problem(done.error());
  if (done->verdict == decision_verdict::unknown)
    return problem(404, "not_found",
                   "there is no proposal \"" + id.value + "\"");
  if (done->verdict == decision_verdict::stale)
    return problem(409, "invalid_request",
                   "the proposal is no longer what the digest was made of: "
                   "look at it again");
  const auto now = c.at->parts().proposals.show(id);
  if (!now) return problem(now.error());
  auto out = service::to_json(*now, system_wall_time());
  if (done->verdict == decision_verdict::too_late) {
    auto late = problem(409, "invalid_request",
                        "the proposal was decided before: " +
                            service::status_of(*now, system_wall_time()));
    return late;
  }
  if (done->started)
    out["started"] = {{"run_id", done->started->run.value},
                      {"session_id", done->started->session.value}};
  if (done->queued) out["queued"] = true;
  return json_reply(200, out);
}

/// How many are looked through for those of a caller.
constexpr std::size_t most_proposals = 100'000;

}  // namespace

void list_proposals(call c) {
  work(std::move(c), [](call& x) -> reply {
    if (auto refused =
            refuse_query(x.in, {"status", "session", "limit", "before"}))
      return std::move(*refused);
    const auto limit = limit_of(x.in, 100);
    if (!limit)
      return problem(400, "invalid_request", "limit must be 1 to 1000");
    storage::proposal_filter of;
    of.limit = most_proposals;
    const auto status = x.in.query.find("status");
    const auto word =
        status == x.in.query.end() ? std::string{"pending"} : status->second;
    if (word != "pending" && word != "all")
      return problem(400, "invalid_request", "status must be pending or all");
    of.undecided = word == "pending";
    if (const auto at = x.in.query.find("session"); at != x.in.query.end())
      of.session = session_id{at->second};
    const auto all = x.at->parts().proposals.list(of);
    if (!all) return problem(all.error());
    const auto now = system_wall_time();
    json list = json::array();
    const auto before = x.in.query.find("before");
    bool behind = before == x.in.query.end();
    for (const auto& one : *all) {
      if (list.size() == *limit) break;
      if (!behind) {
        behind = one.it.what.id.value == before->second;
        continue;
      }
      if (of.undecided && service::status_of(one, now) != "open") continue;
      if (may_see_proposal(x, one)) list.push_back(service::to_json(one, now));
    }
    return json_reply(200, {{"proposals", std::move(list)}});
  });
}

void decide(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  auto x = read_decision(*body, *c.who);
  if (!x) return c.out(problem(x.error()));
  if (x->kept && !c.who->sees_all)
    return c.out(problem(403, "invalid_request",
                         "kept counts in everybody's sessions: the token needs "
                         "sessions = \"all\""));
  const proposal_id id{c.names.at(0)};
  work(std::move(c),
       [id, x = std::move(*x)](call& later) { return decided(later, id, x); });
}

namespace {

/// What is kept for all sessions is for those who see them all.
bool may_see_grant(const call& c, const storage::grant_record& x) {
  return c.who->sees_all ||
         (!x.session.value.empty() && check_session(c, x.session).has_value());
}

}  // namespace

void list_grants(call c) {
  work(std::move(c), [](call& x) -> reply {
    std::optional<session_id> of;
    if (const auto at = x.in.query.find("session"); at != x.in.query.end())
      of = session_id{at->second};
    const auto all = x.at->parts().proposals.grants(of);
    if (!all) return problem(all.error());
    json list = json::array();
    for (const auto& one : *all)
      if (may_see_grant(x, one)) list.push_back(service::to_json(one));
    return json_reply(200, {{"grants", std::move(list)}});
  });
}

void revoke_grant(call c) {
  work(std::move(c), [](call& x) -> reply {
    const proposal_id id{x.names.at(0)};
    const auto all = x.at->parts().proposals.grants({});
    if (!all) return problem(all.error());
    const auto at =
        std::ranges::find(*all, id, &storage::grant_record::proposal);
    auto gone = at != all->end() && may_see_grant(x, *at)
                    ? x.at->parts().proposals.revoke(id)
                    : expected<bool>{false};
    if (!gone) return problem(gone.error());
    if (!*gone)
      return problem(404, "not_found",
                     "nothing was approved for further calls by \"" + id.value +
                         "\"; GET /v1/grants lists what was");
    return json_reply(200, service::to_json(*at));
  });
}

}  // namespace riffle::http
