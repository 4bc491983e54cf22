// SPDX-License-Identifier: MIT
// Volleys: many tasks at once.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "runtime/http/feed_asked.hpp"
#include "runtime/http/feed_source.hpp"
#include "runtime/http/other_routes.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/http/run_routes.hpp"
#include "runtime/service/views.hpp"

namespace riffle::http {

namespace {

json task_json(const run_request& x) {
  return {{"task", x.task}, {"session_id", x.session ? x.session->value : ""}};
}

json tasks_json(const volley_request& x) {
  json out = json::array();
  for (const auto& task : x.tasks) out.push_back(task_json(task));
  return out;
}

reply no_content() {
  reply out;
  out.status = 204;
  return out;
}

reply accepted_volley(const std::string& id, json tasks) {
  auto out = json_reply(202, {{"volley_id", id}, {"tasks", std::move(tasks)}});
  out.with("Location", "/v1/volleys/" + id);
  return out;
}

reply begin_volley(call& c, volley_request x) {
  for (const auto& task : x.tasks)
    if (auto ok = check_bounds(task, *c.who, *c.at->parts().config); !ok)
      return problem(ok.error());
  for (const auto& task : x.tasks)
    if (task.session)
      if (auto ok = check_may_add(c, *task.session); !ok)
        return problem(ok.error());
  if (!x.id.empty()) {
    const auto there = service::load_volley(*c.at->parts().journal, x.id);
    if (there && there->request.tasks.front().origin.digest ==
                     x.tasks.front().origin.digest)
      return accepted_volley(x.id, tasks_json(there->request));
    if (there)
      return problem(422, "invalid_request",
                     "this Idempotency-Key was used for another request; a "
                     "new request needs a new key");
  }
  // Its runs are runs like others: each asks for room again.
  if (auto refused = cannot_start(c, false)) return std::move(*refused);
  if (x.id.empty()) x.id = c.at->parts().ids->make(service::volley_prefix);
  const auto id = x.id;
  const auto all = c.at->volleys();
  if (auto ok = all->add(id); !ok) return problem(ok.error());
  const auto watch = all->listener();
  watch->id = id;
  auto made = c.at->parts().volleys.open(
      std::move(x), *c.at->parts().ids, watch,
      [room = c.at->room()] { return room->take(); });
  if (!made) {
    all->remove(id);
    return problem(made.error());
  }
  all->set(id, made->run);
  json tasks = json::array();
  for (const auto& task : made->tasks) tasks.push_back(task_json(task.request));
  log_deed(c, "starts " + id, {}, id);
  made->begin();
  return accepted_volley(id, std::move(tasks));
}

}  // namespace

void start_volley(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  auto x = read_volley(*body, *c.who);
  if (!x) return c.out(problem(x.error()));
  auto key = id_of_key(c.in, *c.who, service::volley_prefix);
  if (!key) return c.out(problem(key.error()));
  x->id = key->value_or("");
  const auto digest = digest_of(c.in);
  for (auto& task : x->tasks) task.origin.digest = digest;
  turns::names names;
  if (!x->id.empty()) names.insert("volley " + x->id);
  for (const auto& task : x->tasks)
    if (task.session) names.insert("session " + task.session->value);
  const auto kept = std::make_shared<call>(std::move(c));
  in_turn(*kept, std::move(names), [kept, x = std::move(*x)] {
    work(*kept, [x](call& there) { return begin_volley(there, x); });
  });
}

namespace {

/// Why the stream cannot begin where its client asks for it. Blocks.
std::optional<reply> refuse_place(const call& c, const feed_filter& has) {
  const auto asked = asked_feed_place(c.in);
  if (!asked)
    return problem(400, "invalid_request",
                   "Last-Event-ID (or ?after=) must be an id of this stream: "
                   "COMMIT.RUN-EVENT, such as 12.3-17");
  if (!*asked) return {};
  const auto is = judge_feed_place(*c.at->parts().journal, **asked, has);
  if (!is) return problem(is.error());
  if (*is == feed_place_is::strange)
    return problem(400, "invalid_request",
                   "this stream has had no such event; begin with an id of "
                   "it, or with none");
  if (*is == feed_place_is::beyond)
    return problem(410, "not_found",
                   "there is no such event (yet); begin with an earlier one, "
                   "or with none");
  return {};
}

/// `start`: where it begins unless the client says so.
reply feed_stream(call& c, event_format format,
                  const std::function<expected<storage::feed_place>()>& start,
                  feed_request how) {
  const auto asked = asked_feed_place(c.in);
  const auto from =
      asked && *asked ? expected<storage::feed_place>{**asked} : start();
  if (!from) return problem(from.error());
  auto out = run_stream(c, {}, 0, format);
  if (out.status != 200) return out;
  how.format = format;
  out.source =
      std::make_shared<feed_source>(c.at->hub(), *from, std::move(how));
  return out;
}

event_format feed_format(const call& c) {
  return wanted_format(c.in, false).value_or(event_format::sse);
}

/// Whether one of these runs has an event behind the place. Reads on through
/// those of others, so only where nothing more will come.
expected<bool> has_more(storage::journal& journal, storage::feed_place after,
                        const std::vector<storage::run_record>& runs) {
  constexpr std::size_t page_bytes = 256u << 10;
  std::unordered_set<run_id> all;
  for (const auto& run : runs) all.insert(run.id);
  for (;;) {
    const auto page = journal.read_feed(after, page_bytes);
    if (!page) return unexpected{page.error()};
    if (std::ranges::any_of(page->entries,
                            [&](const auto& x) { return all.contains(x.run); }))
      return true;
    if (page->end || page->entries.empty()) return false;
    after = page->next;
  }
}

/// Whether nothing more comes of it: nobody works on it, no server will go on
/// with it, and no run of it is open. Else, and if it cannot be known: nothing.
std::optional<std::vector<storage::run_record>> runs_if_over(
    const site& at, const std::string& id,
    const service::volley_record& record) {
  if (at.parts().volleys.is_worked_on(id)) return {};
  const auto noted = at.volleys()->unfinished();
  if (!noted || noted->contains(id)) return {};
  auto runs = service::runs_of_volley(*at.parts().journal, id, record);
  if (!runs || std::ranges::any_of(*runs, [](const auto& run) {
        return run.state == storage::run_state::active;
      }))
    return {};
  return std::move(*runs);
}

/// The end of a volley that a client has seen: it need not come again.
expected<bool> is_seen(call& c, const std::string& id,
                       const service::volley_record& record) {
  const auto asked = asked_feed_place(c.in);
  if (!asked || !*asked) return false;
  const auto runs = runs_if_over(*c.at, id, record);
  if (!runs) return false;
  const auto more = has_more(*c.at->parts().journal, **asked, *runs);
  if (!more) return unexpected{more.error()};
  return !*more;
}

/// The earliest of its runs in the order.
expected<storage::feed_place> start_of_volley(storage::journal& journal,
                                              const std::string& id,
                                              const service::volley_record& x) {
  const auto runs = service::runs_of_volley(journal, id, x);
  if (!runs) return unexpected{runs.error()};
  auto first = journal.end_of_feed();
  for (const auto& run : *runs)
    if (const auto at = journal.start_in_feed(run.id); at && first)
      first = std::min(*first, *at);
  return first;
}

}  // namespace

void volley_events(call c) {
  if (auto refused = refuse_format(c.in, false)) return c.out(*refused);
  const auto format = feed_format(c);
  work(std::move(c), [format](call& x) -> reply {
    const auto id = x.names.at(0);
    auto loaded = visible_volley(x, id);
    if (!loaded) return problem(loaded.error());
    const auto record =
        std::make_shared<const service::volley_record>(std::move(*loaded));
    feed_request how;
    how.has = [id](const feed_run& run) { return run.volley == id; };
    if (auto refused = refuse_place(x, how.has)) return std::move(*refused);
    const auto seen = is_seen(x, id, *record);
    if (!seen) return problem(seen.error());
    if (*seen) return no_content();
    how.goes_on = [at = x.at, id] {
      return at->volleys()->find(id) != nullptr;
    };
    how.over = [at = x.at, id, record] {
      return runs_if_over(*at, id, *record).has_value();
    };
    return feed_stream(
        x, format,
        [&] { return start_of_volley(*x.at->parts().journal, id, *record); },
        std::move(how));
  });
}

void all_events(call c) {
  if (auto refused = refuse_format(c.in, false)) return c.out(*refused);
  const auto format = feed_format(c);
  work(std::move(c), [format](call& x) -> reply {
    feed_request how;
    how.has = [who = x.who](const feed_run& run) {
      return may_see(*who, run.by);
    };
    const auto asked = asked_feed_place(x.in);
    how.tells_place = asked && !*asked;
    if (auto refused = refuse_place(x, how.has)) return std::move(*refused);
    return feed_stream(
        x, format, [&] { return x.at->parts().journal->end_of_feed(); },
        std::move(how));
  });
}

void cancel_volley(call c) {
  work(std::move(c), [](call& x) -> reply {
    const auto& id = x.names.at(0);
    const auto record = visible_volley(x, id);
    if (!record) return problem(record.error());
    const std::string reason = "cancelled over HTTP";
    log_deed(x, "cancels " + id, {}, id);
    if (const auto here = x.at->volleys()->find(id)) {
      here->cancel(reason);
      // For who looks at it later: a task that had not begun shows nothing.
      if (auto ok = service::ask_volley_end(*x.at->parts().journal, id, reason);
          !ok)
        return problem(ok.error());
      return json_reply(202, {{"volley_id", id}, {"cancel", "asked"}});
    }
    auto& journal = *x.at->parts().journal;
    if (auto ok = service::ask_volley_end(journal, id, reason); !ok)
      return problem(ok.error());
    const auto runs = service::runs_of_volley(journal, id, *record);
    if (!runs) return problem(runs.error());
    // Between two runs of a task, too.
    bool active = x.at->parts().volleys.is_worked_on(id);
    std::optional<error> refused;
    for (const auto& run : *runs) {
      if (run.state != storage::run_state::active) continue;
      active = true;
      const auto verdict =
          service::wait_for<storage::cancel_verdict>([&](const auto& to) {
            x.at->parts().runs.cancel(run.id, reason, true, to);
          });
      if (!verdict && !refused) refused = verdict.error();
    }
    // Asked again, those that were told already change nothing.
    if (refused) return problem(*refused);
    return json_reply(
        active ? 202 : 200,
        {{"volley_id", id}, {"cancel", active ? "asked" : "finished"}});
  });
}

}  // namespace riffle::http
