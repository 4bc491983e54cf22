// SPDX-License-Identifier: MIT
// The Model Context Protocol over HTTP. Nothing is kept between requests: a
// session is a name that the client brings along, and a call of one is a run
// whose id its request gives.
#include "runtime/http/mcp_routes.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/text.hpp"
#include "runtime/http/mcp_message.hpp"
#include "runtime/http/mcp_source.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/service/views.hpp"
#include "tools/mcp/run_task.hpp"

namespace riffle::http {

namespace {

constexpr std::string_view session_uri = "riffle://sessions/";
constexpr std::string_view output_uri = "riffle://outputs/";
constexpr std::size_t listed_sessions = 50;
constexpr std::size_t most_sessions = 10'000;
constexpr std::size_t longest_output = std::size_t{4} << 20;

/// The run of a call, so that who cancels it needs nothing else. `kind`: "run_"
/// of a task, "plan_" of a single tool.
run_id run_of(const call& c, const mcp::json& id, const std::string& kind) {
  constexpr std::size_t kept = 32;
  return run_id{kind + "m" +
                sha256(c.who->name + "\n" +
                       std::string{c.in.header(session_header)} + "\n" +
                       id.dump())
                    .substr(0, kept)};
}

bool wants_stream(const request& in) {
  const auto accept = lower(in.header("accept"));
  return accept.find("text/event-stream") != accept.npos;
}

mcp::json sessions_of(const call& c) {
  auto out = mcp::json::array();
  const auto known = c.at->parts().journal->list_sessions(
      c.who->sees_all ? listed_sessions : most_sessions);
  if (!known) return out;
  for (const auto& id : *known) {
    if (out.size() == listed_sessions) break;
    if (!c.who->sees_all && !check_session(c, id)) continue;
    out.push_back({{"uri", std::string{session_uri} + id.value},
                   {"name", id.value},
                   {"mimeType", "application/json"}});
  }
  return out;
}

std::optional<std::string> text_of_output(const kept_output& x) {
  if (x.file.empty()) return x.text;
  auto text = read_within(x.file, {.bytes = longest_output});
  if (!text) return std::nullopt;
  return *std::move(text);
}

std::optional<std::string> output_of(const call& c, const std::string& id) {
  // Whose it is, is known by its run alone.
  if (!c.who->sees_all) return std::nullopt;
  const auto kept = c.at->parts().sessions.output(call_id{id});
  return kept ? text_of_output(*kept) : std::nullopt;
}

std::optional<std::string> resource_of(const call& c, const std::string& uri) {
  if (uri.starts_with(output_uri))
    return output_of(c, uri.substr(output_uri.size()));
  if (!uri.starts_with(session_uri)) return std::nullopt;
  const session_id id{uri.substr(session_uri.size())};
  if (!check_session(c, id)) return std::nullopt;
  const auto found = c.at->parts().sessions.show(id);
  if (!found) return std::nullopt;
  return service::dump(service::to_json(*found));
}

mcp::serving_options serving_for(const call& c) {
  mcp::serving_options how;
  how.version = c.at->parts().program;
  how.has_begun = true;
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
  x.core.on_done(
      x.asked.key,
      x.single ? mcp::call_result({false, why}) : mcp::task_refusal(why), out);
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
  if (x.single)
    what.read_output =
        [parts = c.at->hub()->parts(), all = c.at->parts().sessions](
            const std::string& id, std::function<void(std::string)> to) {
          parts->reads->submit([parts, all, id, to = std::move(to)]() mutable {
            const auto kept = all.output(call_id{id});
            auto text =
                kept ? text_of_output(*kept).value_or("") : std::string{};
            parts->post([text = std::move(text), to = std::move(to)]() mutable {
              to(std::move(text));
            });
          });
        };
  if (x.modern) what.on_gone = canceller(c, opened.run);
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
expected<plan_request> read_call(const begun_task& x, const caller& who) {
  if (x.single) {
    auto plan = read_plan_request(
        {{"plan", mcp::plan_of_call(x.asked.tool, x.asked.arguments)}}, who);
    if (plan) plan->name = x.asked.tool + ".json";
    return plan;
  }
  auto run = read_run(json(x.asked.arguments), who);
  if (!run) return unexpected{std::move(run.error())};
  plan_request out;
  out.with = *std::move(run);
  return out;
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
  auto what = read_call(*x, *c->who);
  if (!what) return c->out(refused_task(*x, what.error().message));
  x->what = *std::move(what);
  auto& run = x->what.with;
  if (!x->modern)
    run.id = run_of(*c, at(message.body, "id"), x->single ? "plan_" : "run_");
  turns::names names;  // its id has its turn already
  if (run.session) names.insert("session " + run.session->value);
  in_turn(*c, names,
          [c, x] { work(c, [c, x](call&) { return begin_task(c, x); }); });
}

reply cancel_task(const call& c, const mcp_message& message) {
  const auto id = at(at(message.body, "params"), "requestId");
  reply out;
  out.status = 202;
  for (const auto* kind : {"run_", "plan_"}) {
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
      answer.with("Mcp-Session-Id", make_secret());
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

}  // namespace

void serve_mcp(call c) {
  const auto x = read_message(c.in.body);
  if (auto refused = check_headers(c.in, x)) return c.out(*refused);
  if (auto refused = check_session_name(c.in, x)) return c.out(*refused);
  const auto kept = std::make_shared<call>(std::move(c));
  in_turn(*kept, turn_of(*kept, x), [kept, x] {
    work(kept, [kept, x](call&) { return answer_message(kept, x); });
  });
}

}  // namespace riffle::http
