// SPDX-License-Identifier: MIT
// The Model Context Protocol over HTTP. Nothing is kept between requests: a
// session is a name that the client brings along, and a call of one is a run
// whose id its request gives.
#include "runtime/http/mcp_routes.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/trace.hpp"
#include "runtime/http/mcp_batch.hpp"
#include "runtime/http/mcp_message.hpp"
#include "runtime/http/mcp_source.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/views.hpp"
#include "tools/mcp/run_task.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t listed_sessions = 50;
constexpr std::size_t most_sessions = 10'000;

/// Of the older era, whose client may come back for it by its session.
constexpr std::string_view task_prefix = "run_";

/// The run of a call, so that who cancels it needs nothing else. `kind`: that
/// of a task, or of a single tool.
run_id run_of(const call& c, const mcp::json& id, std::string_view kind) {
  constexpr std::size_t kept = 32;
  return run_id{std::string{kind} + "m" +
                sha256(c.who->name + "\n" +
                       std::string{c.in.header(session_header)} + "\n" +
                       id.dump())
                    .substr(0, kept)};
}

mcp::json sessions_of(const call& c) {
  auto out = mcp::json::array();
  const auto known = c.at->parts().sessions.newest_of_people(most_sessions);
  if (!known) return out;
  std::vector<session_id> shown;
  for (const auto& id : *known) {
    if (shown.size() == listed_sessions) break;
    if (c.who->sees_all || check_session(c, id)) shown.push_back(id);
  }
  const auto all = c.at->parts().sessions.list(shown);
  if (!all) return out;
  for (const auto& x : *all)
    out.push_back(mcp::session_resource(x.id.value, x.title));
  return out;
}

std::optional<std::string> output_of(const call& c, const std::string& id) {
  // Whose it is, is known by its run alone.
  if (!c.who->sees_all) return std::nullopt;
  const auto kept = c.at->parts().sessions.output(call_id{id});
  if (!kept) return std::nullopt;
  auto text = service::first_part_of(*kept);
  if (!text) return std::nullopt;
  return *std::move(text);
}

std::optional<std::string> resource_of(const call& c, const std::string& uri) {
  if (const auto output = mcp::id_in(uri, "outputs"))
    return output_of(c, *output);
  const auto session = mcp::id_in(uri, "sessions");
  if (!session) return std::nullopt;
  const session_id id{*session};
  if (!check_session(c, id)) return std::nullopt;
  const auto found = c.at->parts().sessions.show(id);
  if (!found) return std::nullopt;
  return service::dump(service::to_json(*found));
}

mcp::serving_options serving_for(const call& c) {
  mcp::serving_options how;
  how.version = c.at->parts().program;
  how.has_begun = true;
  const auto version = c.in.header("mcp-protocol-version");
  how.spoken = version.empty() ? "2025-03-26" : std::string{version};
  how.templates = mcp::uri_templates();
  how.tools.push_back(mcp::run_task_tool());
  // As with plans: a token of some agents uses no tool by itself.
  if (!c.who->agents.empty()) return how;
  for (const auto& name : c.at->parts().config->mcp_server.tools)
    if (const auto* tool = c.at->parts().tools->find(name))
      how.tools.push_back(mcp::offered_tool((*tool)->spec()));
  return how;
}

/// What is said at once.
mcp::serving_effects said_to(const call& c) {
  auto how = serving_for(c);
  if (c.who->may(role::read)) {
    how.list = [&c] { return sessions_of(c); };
    how.read = [&c](const std::string& uri) { return resource_of(c, uri); };
  }
  mcp::serving_effects out;
  mcp::serving_core{std::move(how)}.on_text(c.in.body, out);
  return out;
}

/// HTTP's word for an answer: the newer era has one for mistakes.
reply answered(const mcp_message& x, std::string text) {
  reply out;
  const auto error = at(mcp::json::parse(text, nullptr, false), "error");
  const auto code = at(error, "code");
  const bool modern = !x.version.empty() || x.method.empty();
  if (modern && code.is_number_integer())
    out.status = code.get<int>() == mcp::code::method_not_found ? 404 : 400;
  out.body = std::move(text);
  return out;
}

// -- calls --------------------------------------------------------------------

/// The call and its run, until there is one.
struct begun_task {
  mcp::serving_core core;
  mcp::begin_call asked;
  bool single = false;  ///< a tool alone: a plan of one step
  plan_request what{};  ///< of a task only `with`
  bool modern = false;
  bool streams = false;
  std::shared_ptr<stream_permit> permit{};
};

reply refused_task(begun_task& x, const std::string& why) {
  mcp::serving_effects out;
  x.core.on_done(x.asked.key,
                 x.single
                     ? mcp::call_result({false, service::without_step(why)})
                     : mcp::task_refusal(why),
                 out);
  reply answer;
  for (auto& one : out)
    if (auto* text = std::get_if<mcp::send_text>(&one))
      answer.body = std::move(text->text);
  return answer;
}

/// Closing the stream cancels a call of the newer era; one of the older goes
/// on.
std::function<void()> canceller(const call& c, const run_id& run) {
  const auto works = c.at->parts().works;
  return [works, runs = c.at->parts().runs, run] {
    works->submit([runs, run]() mutable {
      runs.cancel(run, "its client went away", true,
                  service::reply<storage::cancel_verdict>{
                      [](const expected<storage::cancel_verdict>&) {}});
    });
  };
}

/// Of what the client of a single call is told; on threads that may block.
auto reader_of(const call& c) {
  const auto& at = c.at->parts();
  return [parts = c.at->hub()->parts(), all = at.sessions, journal = at.journal,
          links = c.who->sees_all](service::single_call_end end,
                                   std::function<void(mcp::call_end)> to) {
    parts->reads->submit([parts, all, journal, links, end = std::move(end),
                          to = std::move(to)]() mutable {
      auto told = service::told_of(end, all, *journal, links);
      parts->post([told = std::move(told), to = std::move(to)]() mutable {
        to(std::move(told));
      });
    });
  };
}

reply followed(const call& c, begun_task& x, const run_opened& opened) {
  reply out;
  out.type = x.streams ? "text/event-stream" : "application/json";
  out.with("Cache-Control", "no-store").with("X-Accel-Buffering", "no");
  out.permit = x.permit;
  stream_request how;
  how.format = event_format::ndjson;
  mcp_call what{std::move(x.core), x.asked.key,    x.streams,
                opened.run,        opened.session, {}};
  what.single = x.single;
  if (x.single) what.read_told = reader_of(c);
  if (x.modern) what.on_gone = canceller(c, opened.run);
  what.aside = [parts = c.at->hub()->parts()](std::function<void()> work,
                                              std::function<void()> then) {
    parts->reads->submit(
        [parts, work = std::move(work), then = std::move(then)]() mutable {
          work();
          work = nullptr;  // what it holds ends on the I/O thread
          parts->post(std::move(then));
        });
  };
  out.source = std::make_shared<mcp_source>(
      std::make_shared<run_source>(c.at->hub(), opened.run, 0, how),
      std::move(what));
  return out;
}

std::optional<reply> begin_task(const std::shared_ptr<call>& c,
                                const std::shared_ptr<begun_task>& x) {
  auto& run = x->what.with;
  x->permit = c->at->streams().give(c->who, site::counting_cookie(c->in));
  if (!x->permit)
    return refused_task(*x, "as many streams are open as server.limits allows");
  if (auto ok = check_bounds(run, *c->who, *c->at->parts().config); !ok)
    return refused_task(*x, ok.error().message);
  if (run.session)
    if (auto ok = check_may_add(*c, *run.session); !ok)
      return refused_task(*x, ok.error().message);
  if (run.id && c->at->parts().sessions.find_run(*run.id))
    return refused_task(*x, "this id of a request was used before");
  if (auto full = cannot_start(*c)) return full;
  if (!x->asked.trace.empty()) keep_trace(*run.id, x->asked.trace);
  service::reply<run_opened> to{[c, x](expected<run_opened> y) {
    if (!y) return c->out(refused_task(*x, y.error().message));
    log_deed(*c, "starts " + y->run.value, y->run.value, y->session.value);
    c->out(followed(*c, *x, *y));
  }};
  if (x->single)
    c->at->parts().runs.start_plan(x->what, {}, std::move(to));
  else
    c->at->parts().runs.start(run, {}, std::move(to));
  return {};
}

/// What is asked for, as the routes of tasks and plans read it.
expected<plan_request> read_call(const begun_task& x, const call& c) {
  const auto& who = *c.who;
  if (x.single) {
    auto plan = service::plan_of_single_call(*c.at->parts().tools, x.asked.tool,
                                             x.asked.arguments);
    if (!plan) return plan;
    auto read = read_plan_request({{"plan", plan->plan}}, who);
    if (!read) return read;
    plan->with = std::move(read->with);
    return plan;
  }
  auto run = read_run(json(x.asked.arguments), who);
  if (!run) return unexpected{std::move(run.error())};
  plan_request out;
  out.with = *std::move(run);
  return out;
}

/// Of the newer era each request is another call, and waited for.
run_id id_for(const call& c, const begun_task& x, const mcp_message& message) {
  if (!x.modern)
    return run_of(c, at(message.body, "id"),
                  x.single ? service::single_call_prefix : task_prefix);
  return run_id{c.at->parts().ids->make(x.single ? service::single_call_prefix
                                                 : service::waited_for_prefix)};
}

void start_task(const std::shared_ptr<call>& c, const mcp_message& message) {
  auto x = std::make_shared<begun_task>(
      begun_task{mcp::serving_core{serving_for(*c)}, {}});
  mcp::serving_effects out;
  x->core.on_text(c->in.body, out);
  for (auto& one : out)
    if (auto* begin = std::get_if<mcp::begin_call>(&one))
      x->asked = std::move(*begin);
  x->single = x->asked.tool != mcp::run_task_name;
  x->modern = !message.version.empty();
  x->streams = wants_stream(c->in);
  auto what = read_call(*x, *c);
  if (!what) return c->out(refused_task(*x, what.error().message));
  x->what = *std::move(what);
  auto& run = x->what.with;
  run.id = id_for(*c, *x, message);
  if (x->asked.trace.empty() && is_traceparent(c->in.header("traceparent")))
    x->asked.trace = c->in.header("traceparent");
  turns::names names;  // its id has its turn already
  if (run.session) names.insert("session " + run.session->value);
  in_turn(*c, names,
          [c, x] { work(c, [c, x](call&) { return begin_task(c, x); }); });
}

reply cancel_task(const call& c, const mcp_message& message) {
  const auto id = at(at(message.body, "params"), "requestId");
  reply out;
  out.status = 202;
  for (const auto kind : {task_prefix, service::single_call_prefix}) {
    const auto run = run_of(c, id, kind);
    const auto found = visible_run(c, run);
    if (found && found->state == storage::run_state::active)
      canceller(c, run)();
  }
  return out;
}

std::optional<reply> answer_message(const std::shared_ptr<call>& c,
                                    const mcp_message& x) {
  if (x.method == "notifications/cancelled" && x.version.empty())
    return cancel_task(*c, x);
  for (auto& one : said_to(*c)) {
    if (std::holds_alternative<mcp::begin_call>(one)) {
      start_task(c, x);
      return {};
    }
    auto* text = std::get_if<mcp::send_text>(&one);
    if (text == nullptr) continue;
    auto answer = answered(x, std::move(text->text));
    if (x.method == "initialize" && x.version.empty())
      answer.with("Mcp-Session-Id", make_session(*c->who));
    return answer;
  }
  reply taken;  // a notification, or an answer to nobody's question
  taken.status = 202;
  return taken;
}

/// Of the older era: who cancels a call that has just come waits until there is
/// something to cancel.
turns::names turn_of(const call& c, const mcp_message& x) {
  if (!x.version.empty()) return {};
  if (x.method == "tools/call")
    return {"call " + run_of(c, at(x.body, "id"), "").value};
  if (x.method != "notifications/cancelled") return {};
  const auto id = at(at(x.body, "params"), "requestId");
  return {"call " + run_of(c, id, "").value};
}

/// A message that came alone, or as if it had.
void serve_message(call c) {
  const auto x = read_message(c.in.body);
  if (auto refused = check_headers(c.in, x)) return c.out(*refused);
  if (auto refused = check_session_name(c.in, x, *c.who))
    return c.out(*refused);
  const auto kept = std::make_shared<call>(std::move(c));
  in_turn(*kept, turn_of(*kept, x), [kept, x] {
    work(kept, [kept, x](call&) { return answer_message(kept, x); });
  });
}

}  // namespace

void serve_mcp(call c) {
  const auto x = read_message(c.in.body);
  if (auto refused = check_keys(c.in, x)) return c.out(*refused);
  if (!is_batch(c.in, x.body)) return serve_message(std::move(c));
  if (auto refused = check_headers(c.in, x)) return c.out(*refused);
  if (auto refused = check_session_name(c.in, x, *c.who))
    return c.out(*refused);
  serve_batch(std::move(c), x.body, serve_message);
}

}  // namespace riffle::http
