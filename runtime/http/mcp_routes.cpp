// SPDX-License-Identifier: MIT
// The Model Context Protocol over HTTP. Nothing is kept between requests: a
// session is a name that the client brings along, and a call of one is a run
// whose id its request gives.
#include "runtime/http/mcp_routes.hpp"

#include <algorithm>
#include <utility>

#include "messages/json_strict.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/text.hpp"
#include "runtime/http/mcp_source.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/service/views.hpp"
#include "tools/mcp/run_task.hpp"

namespace riffle::http {

namespace {

constexpr std::string_view session_header = "mcp-session-id";
constexpr std::string_view session_uri = "riffle://sessions/";
constexpr std::string_view output_uri = "riffle://outputs/";
constexpr std::size_t listed_sessions = 50;
constexpr std::size_t most_sessions = 10'000;
constexpr std::size_t longest_session = 128;
constexpr std::size_t longest_output = std::size_t{4} << 20;

/// What is asked, as far as that decides how it is answered.
struct mcp_message {
  mcp::json body{};
  std::string method{};
  std::string version{};  ///< of the newer era; empty: of the older one
};

mcp::json at(const mcp::json& x, const char* key) {
  const auto found = x.is_object() ? x.find(key) : x.end();
  return x.is_object() && found != x.end() ? *found : mcp::json{};
}

std::string text_of(const mcp::json& x) {
  return x.is_string() ? x.get<std::string>() : std::string{};
}

mcp_message read_message(const std::string& body) {
  mcp_message out;
  if (auto x = parse_strict(body)) out.body = *std::move(x);
  out.method = text_of(at(out.body, "method"));
  out.version = text_of(at(at(at(out.body, "params"), "_meta"),
                           "io.modelcontextprotocol/protocolVersion"));
  return out;
}

reply rpc_refusal(unsigned status, const mcp_message& x, int code,
                  const std::string& why) {
  const auto id = at(x.body, "id");
  reply out;
  out.status = status;
  out.body = mcp::to_text({{"jsonrpc", "2.0"},
                           {"id", id.is_structured() ? mcp::json{} : id},
                           {"error", {{"code", code}, {"message", why}}}});
  return out;
}

/// A value of a header as it was meant; nothing: it is ill-formed.
std::string plain_value(std::string_view text) {
  constexpr std::string_view mark = "=?base64?";
  if (!text.starts_with(mark) || !text.ends_with("?="))
    return std::string{text};
  text.remove_prefix(mark.size());
  text.remove_suffix(2);
  return from_base64(text);
}

/// What stands in the header must be what stands in the body: somebody between
/// may have decided by it.
std::optional<reply> check_headers(const request& in, const mcp_message& x) {
  const std::string said{in.header("mcp-protocol-version")};
  if (x.version.empty()) {
    if (said == mcp::modern_version && x.body.contains("id"))
      return rpc_refusal(400, x, mcp::code::invalid_params,
                         "_meta does not say the version of the protocol");
    if (said.empty() || (mcp::speaks(said) && said != mcp::modern_version))
      return {};
    return rpc_refusal(400, x, mcp::code::invalid_request,
                       "MCP-Protocol-Version: this server does not speak " +
                           with_dots(said, 40) + " without _meta");
  }
  const auto differs = [&](const char* header, const std::string& wanted) {
    return plain_value(in.header(header)) != wanted;
  };
  const auto params = at(x.body, "params");
  const auto name = text_of(at(params, "name")) + text_of(at(params, "uri"));
  const bool named = x.method == "tools/call" || x.method == "resources/read" ||
                     x.method == "prompts/get";
  const char* wrong = differs("mcp-protocol-version", x.version)
                          ? "MCP-Protocol-Version"
                      : differs("mcp-method", x.method)    ? "Mcp-Method"
                      : named && differs("mcp-name", name) ? "Mcp-Name"
                                                           : nullptr;
  if (wrong == nullptr) return {};
  return rpc_refusal(400, x, mcp::code::header_mismatch,
                     std::string{"the header "} + wrong +
                         " is missing, or is not what the body says");
}

/// Of the older era, whose clients bring a name along.
std::optional<reply> check_session_name(const request& in,
                                        const mcp_message& x) {
  const auto name = in.header(session_header);
  const bool good =
      !name.empty() && name.size() <= longest_session &&
      std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
  const bool free = x.method == "initialize" || x.method == "ping" ||
                    !x.version.empty() || x.method.empty();
  if (free || good) return {};
  return rpc_refusal(400, x, mcp::code::invalid_request,
                     "the header Mcp-Session-Id is missing: begin with "
                     "initialize, which gives it");
}

/// The run of a call, so that who cancels it needs nothing else.
run_id run_of(const call& c, const mcp::json& id) {
  constexpr std::size_t kept = 32;
  return run_id{"run_m" + sha256(c.who->name + "\n" +
                                 std::string{c.in.header(session_header)} +
                                 "\n" + id.dump())
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

std::optional<std::string> output_of(const call& c, const std::string& id) {
  // Whose it is, is known by its run alone.
  if (!c.who->sees_all) return std::nullopt;
  auto kept = c.at->parts().sessions.output(call_id{id});
  if (!kept) return std::nullopt;
  if (kept->file.empty()) return std::move(kept->text);
  auto text = read_within(kept->file, {.bytes = longest_output});
  if (!text) return std::nullopt;
  return *std::move(text);
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

// -- run_task -----------------------------------------------------------------

/// The call and its run, until there is one.
struct begun_task {
  mcp::serving_core core;
  mcp::begin_call asked;
  run_request run{};
  bool modern = false;
  bool streams = false;
  std::shared_ptr<stream_permit> permit{};
};

reply refused_task(begun_task& x, const std::string& why) {
  mcp::serving_effects out;
  x.core.on_done(x.asked.key, mcp::task_refusal(why), out);
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
  if (x.modern) what.on_gone = canceller(c, opened.run);
  out.source = std::make_shared<mcp_source>(
      std::make_shared<run_source>(c.at->hub(), opened.run, 0, how),
      std::move(what));
  return out;
}

std::optional<reply> begin_task(const std::shared_ptr<call>& c,
                                const std::shared_ptr<begun_task>& x) {
  x->permit = c->at->streams().give(c->who, site::counting_cookie(c->in));
  if (!x->permit)
    return refused_task(*x, "as many streams are open as server.limits allows");
  if (auto ok = check_bounds(x->run, *c->who, *c->at->parts().config); !ok)
    return refused_task(*x, ok.error().message);
  if (x->run.session)
    if (auto ok = check_may_add(*c, *x->run.session); !ok)
      return refused_task(*x, ok.error().message);
  if (x->run.id && c->at->parts().sessions.find_run(*x->run.id))
    return refused_task(*x, "this id of a request was used before");
  if (auto full = cannot_start(*c)) return full;
  c->at->parts().runs.start(
      x->run, {}, service::reply<run_opened>{[c, x](expected<run_opened> y) {
        if (!y) return c->out(refused_task(*x, y.error().message));
        log_deed(*c, "starts " + y->run.value, y->run.value, y->session.value);
        c->out(followed(*c, *x, *y));
      }});
  return {};
}

void start_task(const std::shared_ptr<call>& c, const mcp_message& message) {
  auto x = std::make_shared<begun_task>(
      begun_task{mcp::serving_core{serving_for(*c)}, {}});
  mcp::serving_effects out;
  x->core.on_text(c->in.body, out);
  for (auto& one : out)
    if (auto* begin = std::get_if<mcp::begin_call>(&one))
      x->asked = std::move(*begin);
  x->modern = !message.version.empty();
  x->streams = wants_stream(c->in);
  auto run = read_run(json(x->asked.arguments), *c->who);
  if (!run) return c->out(refused_task(*x, run.error().message));
  x->run = *std::move(run);
  if (!x->modern) x->run.id = run_of(*c, at(message.body, "id"));
  turns::names names;
  if (x->run.session) names.insert("session " + x->run.session->value);
  if (x->run.id) names.insert("run " + x->run.id->value);
  in_turn(*c, names,
          [c, x] { work(c, [c, x](call&) { return begin_task(c, x); }); });
}

reply cancel_task(const call& c, const mcp_message& message) {
  const auto id = at(at(message.body, "params"), "requestId");
  const auto run = run_of(c, id);
  const auto found = visible_run(c, run);
  reply out;
  out.status = 202;
  if (found && found->state == storage::run_state::active) canceller(c, run)();
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

}  // namespace

void serve_mcp(call c) {
  const auto x = read_message(c.in.body);
  if (auto refused = check_headers(c.in, x)) return c.out(*refused);
  if (auto refused = check_session_name(c.in, x)) return c.out(*refused);
  const auto kept = std::make_shared<call>(std::move(c));
  work(kept, [kept, x](call&) { return answer_message(kept, x); });
}

}  // namespace riffle::http
