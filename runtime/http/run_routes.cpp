// SPDX-License-Identifier: MIT
#include "runtime/http/run_routes.hpp"

#include <utility>

#include "runtime/base/trace.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/service/input_size.hpp"
#include "runtime/service/run_end.hpp"
#include "runtime/service/views.hpp"

namespace riffle::http {

namespace {

reply accepted(const run_id& run, const session_id& session) {
  const bool plan = is_plan(run);
  auto out = json_reply(202, {{plan ? "plan_id" : "run_id", run.value},
                              {"session_id", session.value}});
  out.with("Location", (plan ? "/v1/plans/" : "/v1/runs/") + run.value);
  return out;
}

/// As the client accepts it: the events, or that they come.
reply opened(const call& c, const run_id& run, const session_id& session,
             std::uint64_t after = 0) {
  const auto format = wanted_format(c.in, false);
  auto out =
      format ? run_stream(c, run, after, *format) : accepted(run, session);
  // It has begun, whether or not its stream may be open.
  if (out.status == 429) out = accepted(run, session);
  out.with("Riffle-Run-Id", run.value);
  return out;
}

/// A run with this id was there before: the same request, or a mistake.
std::optional<reply> known_before(const call& c, const run_id& id,
                                  const std::string& digest) {
  const auto run = c.at->parts().sessions.find_run(id);
  if (!run) return {};
  if (origin_of(*run).digest != digest)
    return problem(422, "invalid_request",
                   "this Idempotency-Key was used for another request; a new "
                   "request needs a new key");
  return opened(c, run->id, session_of(*run));
}

/// Whose runs an application finds by it: of a plan, that of its steps.
session_id shown_session(const call& c, const run_opened& x) {
  if (!is_plan(x.run)) return x.session;
  const auto run = c.at->parts().sessions.find_run(x.run);
  return run ? session_of(*run) : x.session;
}

/// Another server of the data folder may have begun the same meanwhile.
service::reply<run_opened> answer_with(const std::shared_ptr<call>& c,
                                       const run_request& asked) {
  return service::reply<run_opened>{
      [c, id = asked.id, digest = asked.origin.digest](expected<run_opened> x) {
        if (x) {
          log_deed(*c, "starts " + x->run.value, x->run.value,
                   x->session.value);
          return c->out(opened(*c, x->run, shown_session(*c, *x)));
        }
        auto out = problem(x.error());
        if (id)
          if (auto there = known_before(*c, *id, digest)) out = *there;
        c->out(std::move(out));
      }};
}

/// What is not the caller's session it may not add to.
std::optional<reply> foreign_session(const call& c, const run_request& x) {
  if (!x.session) return {};
  const auto ok = check_may_add(c, *x.session);
  return ok ? std::nullopt : std::optional{problem(ok.error())};
}

/// Its id, and the session that it may be the first of.
turns::names turns_of(const run_request& x) {
  turns::names out;
  if (x.session) out.insert("session " + x.session->value);
  if (x.id) out.insert("run " + x.id->value);
  return out;
}

/// The client's trace, which is the run's: so that has an id by now. Empty: it
/// sent none.
std::string trace_for(const call& c, run_request& x, std::string_view prefix) {
  const auto sent = c.in.header("traceparent");
  if (!is_traceparent(sent)) return {};
  if (!x.id) x.id = run_id{c.at->parts().ids->make(prefix)};
  return std::string{sent};
}

/// `Begin`: starts it, with an id and an origin.
template <class Request, class Begin>
void start(call c, expected<Request> x, run_request& (*of)(Request&),
           std::string_view prefix, Begin begin) {
  if (!x) return c.out(problem(x.error()));
  auto key = id_of_key(c.in, *c.who, prefix);
  if (!key) return c.out(problem(key.error()));
  auto& run = of(*x);
  run.origin.digest = digest_of(c.in);
  if (*key) run.id = run_id{**key};
  const auto trace = trace_for(c, run, prefix);
  auto kept = std::make_shared<call>(std::move(c));
  auto body = std::make_shared<Request>(std::move(*x));
  auto begun = [kept, body, of, begin,
                trace](call& later) -> std::optional<reply> {
    const auto& asked = of(*body);
    if (asked.id)
      if (auto there = known_before(later, *asked.id, asked.origin.digest))
        return there;
    if (auto refused = cannot_start(later)) return refused;
    if (auto ok = check_bounds(asked, *later.who, *later.at->parts().config);
        !ok)
      return problem(ok.error());
    if (auto refused = foreign_session(later, asked)) return refused;
    if (!trace.empty()) keep_trace(*asked.id, trace);
    begin(later, *body, answer_with(kept, asked));
    return {};
  };
  in_turn(*kept, turns_of(of(*body)), [kept, begun] { work(kept, begun); });
}

void begin_run(call c, const json& body) {
  start<run_request>(
      std::move(c), read_run(body, *c.who),
      [](run_request& x) -> run_request& { return x; }, "run_",
      [](call& later, run_request& x, const auto& to) {
        later.at->parts().runs.start(std::move(x), {}, to);
      });
}

reply shown(call& c) {
  const auto run = visible_run(c, run_id{c.names.at(0)});
  if (!run) return problem(run.error());
  bool cut_off = false;
  if (run->state == storage::run_state::active) {
    const auto gone = c.at->parts().sessions.interrupted();
    cut_off = gone && gone->contains(run->id);
  }
  auto out = service::to_json(*run, cut_off);
  add_end(c, *run, out);
  return json_reply(200, out);
}

/// Where a stream begins: `Last-Event-ID` before `?after=`. Nothing: it is
/// ill-formed.
std::optional<std::uint64_t> asked_place(const request& x) {
  if (const auto id = x.header("last-event-id"); !id.empty())
    return parse_seq(id);
  const auto at = x.query.find("after");
  return at == x.query.end() ? std::optional<std::uint64_t>{0}
                             : parse_seq(at->second);
}

/// Where the stream of a run cannot begin.
std::optional<reply> check_place(const call& c, const storage::run_record& run,
                                 std::uint64_t after) {
  if (after == 0) return {};
  const auto& sessions = c.at->parts().sessions;
  const auto there = sessions.read_events(run.id, after - 1, 1);
  if (!there) return problem(there.error());
  if (there->blocks.empty())
    return problem(410, "not_found",
                   "the run has no event " + std::to_string(after) +
                       " (yet); begin with an earlier one, or with none");
  const auto behind = sessions.read_events(run.id, after, 1);
  if (!behind) return problem(behind.error());
  if (!behind->blocks.empty() || run.state == storage::run_state::active)
    return {};
  reply over;
  over.status = 204;
  return over;
}

}  // namespace

void add_end(const call& c, const storage::run_record& run, json& out) {
  if (run.state == storage::run_state::active) return;
  const auto read = c.at->parts().sessions.read_end(run.id);
  if (!read || !*read) return;
  const auto& end = **read;
  if (!end.answer.empty()) out["answer"] = end.answer;
  if (end.truncated) out["truncated"] = true;
  out["duration_ms"] = end.finished.duration_ms;
  if (end.finished.err)
    out["error"] = {{"code", to_string(end.finished.err->code)},
                    {"message", end.finished.err->message}};
}

reply run_stream(const call& c, const run_id& run, std::uint64_t after,
                 event_format format) {
  reply out;
  out.permit = c.at->streams().give(c.who, site::counting_cookie(c.in));
  if (!out.permit)
    return std::move(
        problem(429, "invalid_request",
                "as many streams are open as server.limits allows; close one")
            .with("Retry-After", "5"));
  out.type = format == event_format::sse      ? "text/event-stream"
             : format == event_format::ndjson ? "application/x-ndjson"
                                              : "application/json";
  out.with("Cache-Control", "no-store").with("X-Accel-Buffering", "no");
  stream_request how;
  how.format = format;
  how.follows = format != event_format::array;
  out.source = std::make_shared<run_source>(c.at->hub(), run, after, how);
  return out;
}

void start_run(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  begin_run(std::move(c), *body);
}

void start_session_run(call c) {
  auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  if (body->contains("session_id"))
    return c.out(problem(400, "invalid_request",
                         "session_id stands in the path already"));
  (*body)["session_id"] = c.names.at(0);
  begin_run(std::move(c), *body);
}

void start_plan(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  auto x = read_plan_request(*body, *c.who);
  start<plan_request>(
      std::move(c), std::move(x),
      [](plan_request& y) -> run_request& { return y.with; }, "plan_",
      [](call& later, plan_request& y, const auto& to) {
        later.at->parts().runs.start_plan(std::move(y), {}, to);
      });
}

void show_run(call c) { work(std::move(c), shown); }

void run_events(call c) {
  if (auto refused = refuse_format(c.in, true)) return c.out(*refused);
  const auto format = wanted_format(c.in, true);
  work(std::move(c), [format](call& x) -> reply {
    const auto after = asked_place(x.in);
    if (!after)
      return problem(400, "invalid_request",
                     "Last-Event-ID (or ?after=) must be the number of an "
                     "event of this run");
    const auto run = visible_run(x, run_id{x.names.at(0)});
    if (!run) return problem(run.error());
    if (auto refused = check_place(x, *run, *after)) return std::move(*refused);
    return run_stream(x, run->id, *after, format.value_or(event_format::sse));
  });
}

void resume_run(call c) {
  const auto kept = std::make_shared<call>(std::move(c));
  work(kept, [kept](call& x) -> std::optional<reply> {
    const auto run = visible_run(x, run_id{x.names.at(0)});
    if (!run) return problem(run.error());
    if (run->state != storage::run_state::active)
      return problem(
          409, "invalid_request",
          "the run has ended (" + std::string{to_string(run->state)} + ")");
    if (auto refused = cannot_start(x)) return refused;
    log_deed(x, "resumes " + run->id.value, run->id.value, run->session.value);
    x.at->parts().runs.resume(
        run->id, {}, {},
        service::reply<run_opened>{[kept, id = run->id, session = run->session](
                                       const expected<run_opened>& y) {
          kept->out(y ? opened(*kept, id, session) : problem(y.error()));
        }});
    return {};
  });
}

void say_to_run(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  const auto kept = std::make_shared<call>(std::move(c));
  work(kept, [kept, body = *body](call& x) -> std::optional<reply> {
    const auto run = visible_run(x, run_id{x.names.at(0)});
    if (!run) return problem(run.error());
    const auto text = body.find("text");
    if (body.size() != 1 || text == body.end() || !text->is_string())
      return problem(400, "invalid_request",
                     "the body is an object with one member: text, a string");
    if (auto ok = service::check_told(*text); !ok) return problem(ok.error());
    if (run->state != storage::run_state::active)
      return problem(409, "invalid_request",
                     "the run has ended (" +
                         std::string{to_string(run->state)} +
                         "): POST /v1/sessions/" + run->session.value +
                         "/runs goes on with its conversation");
    x.at->parts().runs.tell(
        run->id, *text,
        service::reply<void>{[kept, id = run->id, session = run->session](
                                 const expected<void>& said) {
          if (!said)
            return kept->out(
                problem(409, "invalid_request", said.error().message));
          log_deed(*kept, "says something to " + id.value, id.value,
                   session.value);
          kept->out(
              json_reply(202, {{"run_id", id.value}, {"message", "asked"}}));
        }});
    return {};
  });
}

void cancel_run(call c) {
  const auto kept = std::make_shared<call>(std::move(c));
  work(kept, [kept](call& x) -> std::optional<reply> {
    const run_id id{x.names.at(0)};
    const auto run = visible_run(x, id);
    if (!run) return problem(run.error());
    x.at->parts().runs.cancel(
        id, "cancelled over HTTP", true,
        service::reply<storage::cancel_verdict>{
            [kept, id, session = run->session](
                const expected<storage::cancel_verdict>& verdict) {
              if (!verdict) return kept->out(problem(verdict.error()));
              const bool over = *verdict == storage::cancel_verdict::finished;
              if (!over)
                log_deed(*kept, "cancels " + id.value, id.value, session.value);
              json out{{"run_id", id.value},
                       {"cancel", over ? "finished" : "asked"}};
              if (is_plan(id)) out["plan_id"] = id.value;
              kept->out(json_reply(over ? 200 : 202, out));
            }});
    return {};
  });
}

}  // namespace riffle::http
