// SPDX-License-Identifier: MIT
// Sessions: what was said in them, their events, their values.
#include <unordered_set>
#include <utility>

#include "runtime/http/other_routes.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/views.hpp"

namespace riffle::http {

namespace {

/// How many of the newest are looked through for those of a caller.
constexpr std::size_t most_sessions = 100'000;

std::optional<session_place> asked_session_place(const request& x) {
  auto text = x.header("last-event-id");
  if (text.empty()) {
    const auto at = x.query.find("after");
    if (at == x.query.end()) return session_place{1, 0};
    text = at->second;
  }
  return parse_session_place(text);
}

/// `not_found`: it has no run yet.
expected<void> check_begun(const call& c, const session_id& id) {
  storage::run_filter of;
  of.session = id;
  of.ordinal = 1;
  const auto runs = c.at->parts().journal->list_runs(of);
  if (!runs) return unexpected{runs.error()};
  if (!runs->empty()) return {};
  return unexpected{error{
      errc::not_found, "server",
      "there is no session \"" + id.value + "\"; its first run makes it"}};
}

/// Where the stream of a session cannot begin.
std::optional<reply> check_session_place(const call& c, const session_id& id,
                                         const session_place& at) {
  if (at.seq == 0 && at.ordinal == 1) return {};
  storage::run_filter of;
  of.session = id;
  of.ordinal = at.ordinal;
  const auto runs = c.at->parts().journal->list_runs(of);
  if (!runs) return problem(runs.error());
  if (!runs->empty()) {
    if (at.seq == 0) return {};
    const auto page =
        c.at->parts().sessions.read_events(runs->front().id, at.seq - 1, 1);
    if (!page) return problem(page.error());
    if (!page->blocks.empty()) return {};
  }
  return problem(410, "not_found",
                 "the session has no such event (yet); begin with an earlier "
                 "one, or with none");
}

/// Those whose runs the caller may see: one walk over the runs, not a question
/// for each session.
expected<std::unordered_set<std::string>> own_sessions(const call& c) {
  std::unordered_set<std::string> out;
  storage::run_filter of;
  of.limit = 1000;
  for (;;) {
    const auto runs = c.at->parts().journal->list_runs(of);
    if (!runs) return unexpected{runs.error()};
    for (const auto& run : *runs)
      if (!out.contains(run.session.value) && may_see(*c.who, run))
        out.insert(run.session.value);
    if (runs->size() < of.limit) return out;
    of.before = runs->back().id;
  }
}

}  // namespace

void list_sessions(call c) {
  work(std::move(c), [](call& x) -> reply {
    if (auto refused = refuse_query(x.in, {"limit", "before"}))
      return std::move(*refused);
    const auto limit = limit_of(x.in, 100);
    if (!limit)
      return problem(400, "invalid_request", "limit must be 1 to 1000");
    const bool newest = x.who->sees_all && !x.in.query.contains("before");
    const auto known = x.at->parts().sessions.newest_of_people(
        newest ? *limit : most_sessions);
    if (!known) return problem(known.error());
    std::vector<std::string> ids;
    for (const auto& id : *known) ids.push_back(id.value);
    if (auto refused = drop_before(x.in, ids, "session"))
      return std::move(*refused);
    std::unordered_set<std::string> own;
    if (!x.who->sees_all) {
      auto found = own_sessions(x);
      if (!found) return problem(found.error());
      own = std::move(*found);
    }
    std::vector<session_id> shown;
    for (auto& id : ids) {
      if (shown.size() == *limit) break;
      if (x.who->sees_all || own.contains(id))
        shown.push_back(session_id{std::move(id)});
    }
    const auto all = x.at->parts().sessions.list(shown);
    if (!all) return problem(all.error());
    json list = json::array();
    for (const auto& one : *all) {
      list.push_back(service::to_json(one));
      if (one.runs > 0) shorten_task(list.back()["last_run"]);
    }
    return json_reply(200, {{"sessions", std::move(list)}});
  });
}

void show_session(call c) {
  work(std::move(c), [](call& x) -> reply {
    const session_id id{x.names.at(0)};
    if (auto ok = check_session(x, id); !ok) return problem(ok.error());
    const auto whole = x.at->parts().sessions.show(id);
    if (!whole) return problem(whole.error());
    const auto gone = x.at->parts().sessions.interrupted();
    if (!gone) return problem(gone.error());
    return json_reply(200, service::to_json(*whole, *gone));
  });
}

void delete_session(call c) {
  work(std::move(c), [](call& x) -> reply {
    const session_id id{x.names.at(0)};
    if (auto ok = check_session(x, id); !ok) return problem(ok.error());
    const auto gone = x.at->parts().sessions.remove(id);
    if (!gone) return problem(gone.error());
    log_deed(x, "deletes session " + id.value, {}, id.value);
    const auto hub = x.at->hub();
    hub->parts()->post([hub, id] { hub->tail().gone(id); });
    return json_reply(200, {{"session_id", id.value},
                            {"sessions", gone->sessions},
                            {"runs", gone->runs}});
  });
}

void session_events(call c) {
  if (auto refused = refuse_format(c.in, true)) return c.out(*refused);
  const auto format = wanted_format(c.in, true).value_or(event_format::sse);
  work(std::move(c), [format](call& x) -> reply {
    const session_id id{x.names.at(0)};
    const auto place = asked_session_place(x.in);
    if (!place)
      return problem(400, "invalid_request",
                     "Last-Event-ID (or ?after=) must be of this stream: "
                     "RUN-EVENT, such as 2-17");
    if (auto ok = check_session(x, id); !ok) return problem(ok.error());
    if (auto ok = check_begun(x, id); !ok) return problem(ok.error());
    if (auto refused = check_session_place(x, id, *place))
      return std::move(*refused);
    auto out = run_stream(x, {}, 0, format);
    if (out.status != 200) return out;
    out.source = std::make_shared<session_source>(
        x.at->hub(), id, *place, format, format != event_format::array);
    return out;
  });
}

void get_state(call c) {
  work(std::move(c), [](call& x) -> reply {
    const session_id id{x.names.at(0)};
    if (auto ok = check_session(x, id); !ok) return problem(ok.error());
    const auto all = x.at->parts().sessions.state(id);
    if (!all) return problem(all.error());
    const auto at = all->find(x.names.at(1));
    if (at == all->end())
      return problem(404, "not_found",
                     "the session has no value \"" + x.names.at(1) + "\"");
    return json_reply(200, json(at->second));
  });
}

void put_state(call c) {
  work(std::move(c), [](call& x) -> reply {
    const session_id id{x.names.at(0)};
    if (auto ok = check_session(x, id); !ok) return problem(ok.error());
    if (nests_too_deep(x.in.body))
      return problem(400, "invalid_request",
                     "the value nests deeper than 100 levels");
    auto value = nlohmann::json::parse(x.in.body, nullptr, false);
    if (value.is_discarded())
      return problem(400, "invalid_request",
                     "the body must be the value, as JSON; null removes it");
    if (auto ok = check_begun(x, id); !ok) return problem(ok.error());
    if (auto ok = x.at->parts().sessions.set_state(id, x.names.at(1), value);
        !ok)
      return problem(ok.error());
    reply out;
    out.status = 204;
    return out;
  });
}

}  // namespace riffle::http
