// SPDX-License-Identifier: MIT
// What there is, who one is, and how the server is.
#include "runtime/http/other_routes.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/service/provider_key.hpp"
#include "runtime/service/tools.hpp"
#include "runtime/service/views.hpp"

namespace riffle::embedded {
extern const std::string_view openapi_json;
}  // namespace riffle::embedded

namespace riffle::http {

namespace {

constexpr std::int64_t cookie_seconds = 30LL * 24 * 3600;

reply word(unsigned status, std::string text) {
  reply out;
  out.status = status;
  out.type = "text/plain; charset=utf-8";
  out.body = std::move(text) + "\n";
  return out;
}

std::string cookie(const request& x, const std::string& value,
                   std::int64_t seconds) {
  return std::string{cookie_name} + "=" + value +
         "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
         std::to_string(seconds) + (x.secure ? "; Secure" : "");
}

}  // namespace

void list_tools(call c) {
  work(std::move(c), [](call& x) -> reply {
    const auto& parts = x.at->parts();
    const auto tools = parts.tools_now ? parts.tools_now() : parts.tools;
    json list = json::array();
    std::set<std::string> known;
    const auto refused = parts.servers ? parts.servers->refused_tools()
                                       : std::map<std::string, std::string>{};
    for (auto& one : service::list_tools(*tools, *parts.config)) {
      if (auto of = config::server_of(*parts.config, one.spec.name))
        known.insert(*std::move(of));
      if (const auto why = refused.find(one.spec.name); why != refused.end())
        one.unavailable = why->second;
      list.push_back(service::to_json(one));
    }
    // Asking for the list starts nothing.
    json unknown = json::array();
    for (const auto& [name, ignored] : parts.config->mcp)
      if (!known.contains(name)) unknown.push_back(name);
    json servers = json::array();
    if (parts.servers)
      for (const auto& one : parts.servers->views())
        servers.push_back(json(mcp::to_json(one)));
    return json_reply(200, {{"tools", std::move(list)},
                            {"unknown_servers", std::move(unknown)},
                            {"servers", std::move(servers)}});
  });
}

void list_agents(call c) {
  json list = json::array();
  for (const auto& [name, x] : c.at->parts().config->agents)
    if (c.who->may_use(name))
      list.push_back({{"name", name},
                      {"model", x.model},
                      {"tools", x.tools},
                      {"max_steps", x.max_steps},
                      {"phase", x.phase},
                      {"completion", x.completion}});
  c.out(json_reply(200, {{"agents", std::move(list)}}));
}

void log_in(call c) {
  const auto body = read_object(c);
  if (!body) return c.out(problem(body.error()));
  const auto at = body->find("token");
  if (at == body->end() || !at->is_string())
    return c.out(problem(400, "invalid_request",
                         "token is missing: {\"token\": \"…\"}"));
  const auto rules = c.at->current_gate();
  const auto who = rules->tokens().find(at->get<std::string>());
  if (!who)
    return c.out(problem(401, "invalid_request",
                         "this token is not known here (any more)"));
  const wall_time until{system_wall_time().us + cookie_seconds * 1'000'000};
  reply out;
  out.status = 204;
  out.with("Set-Cookie", cookie(c.in, rules->tokens().cookie_for(*who, until),
                                cookie_seconds));
  c.out(std::move(out));
}

/// The cookie is no more worth anything, wherever it was copied to; its
/// streams end.
void log_out(call c) {
  work(std::move(c), [](call& x) -> reply {
    const auto value = cookie_of(x.in.header("cookie"), cookie_name);
    const auto now = system_wall_time();
    if (x.at->current_gate()->tokens().find_cookie(value, now))
      if (auto ok = x.at->logged_out().add(value, *end_of_cookie(value), now);
          !ok)
        return problem(ok.error());
    x.at->streams().withdraw_cookie(std::string{value});
    reply out;
    out.status = 204;
    out.with("Set-Cookie", cookie(x.in, "", 0));
    return out;
  });
}

void health(call c) {
  const auto why =
      c.at->parts().failure ? c.at->parts().failure() : std::optional<error>{};
  c.out(why ? word(503, "failed") : word(200, "ok"));
}

/// False: a run would soon wait for room.
bool has_room(const config::config& x) {
  constexpr std::uint64_t least = 1u << 20;
  const auto folder = config::data_folder(x.runtime);
  std::error_code unknown;
  if (!folder) return true;
  const auto space = std::filesystem::space(*folder, unknown);
  return unknown || space.available >= least;
}

/// Whether an agent could ask its model: it is named, and its key is there.
bool has_model(const config::config& x) {
  return std::ranges::any_of(x.agents, [&](const auto& agent) {
    const auto model = config::find_model(x, agent.second.model);
    if (!model) return false;
    return model->dialect == "scripted" || !model->api_key_command.empty() ||
           service::key_of_variable(*model, model->base_url, false);
  });
}

/// Whether a run could begin: the journal takes a write and has room, a model
/// can be asked.
readiness look_whether_ready(const site_parts& parts) {
  if (parts.failure && parts.failure()) return {503, "failed"};
  if (!has_model(*parts.config)) return {503, "unconfigured"};
  // First: where there is none, a write fails, too.
  if (!has_room(*parts.config)) return {503, "full"};
  // Of no session that anybody names. Each time another value: what is there
  // already is not written.
  const auto stored =
      parts.journal->set_state({session_id{"riffle:ready"}, "ready",
                                std::to_string(system_wall_time().us)});
  if (!stored) return {503, "unwritable"};
  return {200, "ready"};
}

/// It needs no token and writes: one look a second, however many ask.
void ready(call c) {
  if (c.at->is_stopping()) return c.out(word(503, "stopping"));
  const auto kept = std::make_shared<call>(std::move(c));
  in_turn(*kept, {"ready"}, [kept] {
    work(kept, [](call& x) -> std::optional<reply> {
      constexpr auto fresh = std::chrono::seconds{1};
      const auto now = std::chrono::steady_clock::now();
      auto& last = x.at->last_readiness();
      if (last.status == 0 || now - last.at >= fresh) {
        last = look_whether_ready(x.at->parts());
        last.at = now;
      }
      return word(last.status, last.word);
    });
  });
}

void metrics(call c) {
  if (!c.at->parts().metrics)
    return c.out(problem(404, "not_found", "there are no metrics"));
  if (!c.who->sees_all)
    return c.out(problem(403, "invalid_request",
                         "metrics tell of everybody's runs: the token needs "
                         "sessions = \"all\""));
  work(std::move(c), [](call& x) {
    reply out;
    out.type = "text/plain; version=0.0.4; charset=utf-8";
    out.body = x.at->parts().metrics();
    return out;
  });
}

void openapi(call c) {
  reply out;
  out.body = embedded::openapi_json;
  out.with("Cache-Control", "max-age=60");
  c.out(std::move(out));
}

}  // namespace riffle::http
