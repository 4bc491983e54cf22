// SPDX-License-Identifier: MIT
#include "runtime/config/schema.hpp"

#include <utility>

#include "runtime/config/providers.hpp"

namespace riffle::config {

rule one_of(std::vector<std::string_view> allowed,
            std::vector<std::string_view> later) {
  rule out;
  out.allowed = std::move(allowed);
  out.later = std::move(later);
  return out;
}

rule from(double least, double most) {
  rule out;
  out.least = least;
  out.most = most;
  return out;
}

rule shaped(form x, bool empty_allowed) {
  rule out;
  out.shape = x;
  out.empty_allowed = empty_allowed;
  return out;
}

namespace {

constexpr double seconds_of_a_year = 366.0 * 24 * 3600;
constexpr double millisecond = 0.001;

rule time_limit() { return from(0, seconds_of_a_year); }
rule interval() { return from(millisecond, seconds_of_a_year); }

template <class Map>
std::vector<std::string> names(const Map& x) {
  std::vector<std::string> out;
  for (const auto& entry : x) out.push_back(entry.first);
  return out;
}

void visit(visitor& v, log_config& x) {
  v.field("level", &x.level,
          one_of({"trace", "debug", "info", "warn", "error", "off"}));
  v.field("format", &x.format, one_of({"text", "json"}));
}

void visit(visitor& v, runtime_config& x) {
  v.field("data_dir", &x.data_dir, shaped(form::path, false));
  v.field("threads", &x.threads, from(0, 1024));
  v.field("scheduler", &x.scheduler, one_of({"lifo_slot", "caf"}));
  v.field("max_runs", &x.max_runs);
  v.field("max_calls", &x.max_calls, from(1, 65536));
  v.field("durability", &x.durability, one_of({"process", "disk"}));
  v.table("log", [&] { visit(v, x.log); });
}

void visit(visitor& v, timeouts_config& x) {
  v.field("connect", &x.connect, time_limit());
  v.field("first_byte", &x.first_byte, time_limit());
  v.field("idle", &x.idle, time_limit());
  v.field("total", &x.total, time_limit());
}

void visit(visitor& v, retry_config& x) {
  v.field("max_attempts", &x.max_attempts, from(1, 1000));
  v.field("base", &x.base, time_limit());
  v.field("cap", &x.cap, time_limit());
}

void visit(visitor& v, price_config& x) {
  v.field("input", &x.input);
  v.field("output", &x.output);
  v.field("cached_input", &x.cached_input, from(0, 1e9));
}

void visit(visitor& v, parameters_config& x) {
  constexpr double most = 1e9;
  v.field("temperature", &x.temperature, from(0, 2));
  v.field("top_p", &x.top_p, from(0, 1));
  v.field("max_output_tokens", &x.max_output_tokens, from(1, most));
  v.field("stop", &x.stop, shaped(form::any, false));
  v.field("seed", &x.seed, from(-most, most));
  v.field("reasoning_effort", &x.reasoning_effort);
  v.field("thinking_budget", &x.thinking_budget, from(0, most));
  v.field("tool_choice", &x.tool_choice);
  v.field("parallel_tool_calls", &x.parallel_tool_calls);
  v.field("keep_alive", &x.keep_alive);
}

void visit(visitor& v, model::quirks& x) {
  v.field("max_tokens_name", &x.max_tokens_name);
  v.field("seed_name", &x.seed_name);
  v.field("refuses", &x.refuses,
          one_of({"temperature", "top_p", "max_output_tokens", "stop", "seed",
                  "reasoning_effort", "thinking_budget", "tool_choice",
                  "parallel_tool_calls", "keep_alive", "response_schema",
                  "stream_options", "include", "reasoning_summary",
                  "eager_input_streaming"}));
  v.field("returns", &x.returns,
          one_of({"reasoning_content", "reasoning_details", "thinking_chunks",
                  "thought_signature"}));
  v.field("strict", &x.strict);
  v.field("call_ids", &x.call_ids, one_of({"any", "nine"}));
  v.field("results_show_files", &x.results_show_files);
}

void visit_server(visitor& v, model_config& x) {
  v.field("dialect", &x.dialect,
          one_of({"openai", "anthropic", "responses", "ollama", "scripted"}));
  v.field("base_url", &x.base_url, shaped(form::url, false));
  v.field("api_key_env", &x.api_key_env, shaped(form::identifier));
  v.field("api_key_command", &x.api_key_command);
  v.field("organization", &x.organization);
  v.field("headers", &x.headers, shaped(form::texts));
  v.field("query", &x.query, shaped(form::texts));
  v.field("extra", &x.extra);
  v.field("streaming", &x.streaming);
}

void visit_limits(visitor& v, model_config& x) {
  v.field("max_concurrent", &x.max_concurrent, from(0, 65536));
  v.field("requests_per_minute", &x.requests_per_minute);
  v.derive([&] {
    // A server of Ollama knows it; another one does not say.
    if (x.dialect == "ollama")
      x.context_window = 0;
    else if (x.context_window == 0)
      x.context_window = model_config{}.context_window;
  });
  v.field("context_window", &x.context_window, from(0, 1e12));
  v.field("attachments", &x.attachments, one_of({"images", "pdf"}));
}

void visit(visitor& v, model_config& x) {
  rule not_empty;
  not_empty.empty_allowed = false;
  v.field("provider", &x.provider, shaped(form::provider));
  v.derive([&] {
    if (const auto* known = find_provider(x.provider))
      x = with_name(*known, std::move(x.model));
  });
  v.field("model", &x.model, not_empty);
  visit_server(v, x);
  visit(v, x.parameters);
  v.field("fallback", &x.fallback, not_empty);
  visit_limits(v, x);
  v.field("script", &x.script, shaped(form::path));
  v.table("timeouts", [&] { visit(v, x.timeouts); });
  v.table("retry", [&] { visit(v, x.retry); });
  v.table("price", [&] { visit(v, x.price); });
}

void visit(visitor& v, budget_config& x) {
  v.field("tool_calls", &x.tool_calls);
  v.field("tokens", &x.tokens);
  v.field("cost_usd", &x.cost_usd);
}

void visit(visitor& v, agent_config& x) {
  v.field("model", &x.model);
  v.field("system_prompt", &x.system_prompt);
  v.field("system_prompt_file", &x.system_prompt_file, shaped(form::path));
  v.field("context_files", &x.context_files, shaped(form::any, false));
  v.field("tools", &x.tools);
  v.field("max_steps", &x.max_steps, from(1, 1e6));
  v.field("max_calls_in_flight", &x.max_calls_in_flight, from(1, 65536));
  v.field("max_calls_per_turn", &x.max_calls_per_turn, from(0, 65536));
  v.field("max_argument_bytes", &x.max_argument_bytes);
  v.field("max_turn_bytes", &x.max_turn_bytes);
  v.field("loop_limit", &x.loop_limit);
  v.field("recovery_attempts", &x.recovery_attempts);
  v.field("completion", &x.completion, one_of({"free", "tool"}));
  v.field("max_termination_attempts", &x.max_termination_attempts);
  v.field("auto_complete", &x.auto_complete);
  v.field("phase", &x.phase);
  v.field("exempt_phases", &x.exempt_phases);
  v.field("silent", &x.silent);
  visit(v, x.parameters);
  v.field("response_schema", &x.response_schema);
  v.table("budget", [&] { visit(v, x.budget); });
}

/// `own`: a tool's table, not that of all tools.
void visit(visitor& v, tool_config& x, bool own) {
  v.field("timeout", &x.timeout, time_limit());
  v.field("idle_timeout", &x.idle_timeout, time_limit());
  v.field("kill_grace", &x.kill_grace, from(0, 60));
  v.field("concurrency", &x.concurrency, from(1, 1024));
  v.field("attempts", &x.attempts, from(1, 1000));
  v.field("queue_timeout", &x.queue_timeout, time_limit());
  v.field("output_limit", &x.output_limit, from(1, 1e9));
  v.field("priority", &x.priority, from(-1000, 1000));
  v.field("idempotent", &x.idempotent);
  v.field("keys", &x.keys, shaped(form::pointer));
  v.field("polling", &x.polling);
  v.field("isolation", &x.isolation, one_of({"thread", "process"}));
  v.field("namespace", &x.pid_namespace, one_of({"auto", "none"}));
  v.field("abandoned_limit", &x.abandoned_limit);
  v.field("nodes", &x.nodes);
  v.field("sticky", &x.sticky, one_of({"none", "session"}));
  v.field("workspace", &x.workspace, shaped(form::folder, false));
  if (own)
    v.field("approval", &x.approval,
            one_of({"default", "ask", "allow", "deny"}));
  else
    v.field("approval", &x.approval, one_of({"ask", "allow", "deny"}));
  v.field("rules", &x.rules, one_of({"ask", "allow", "deny"}));
}

/// Which of these a tool must or must not have, checks.cpp says.
void visit_command(visitor& v, tool_config& x) {
  v.some(!x.type.empty(), [&] {
    auto& program = x.program;
    v.field("type", &x.type, one_of({"command"}));
    v.field("command", &program.command, shaped(form::any));
    v.field("description", &program.description);
    v.field("parameters", &program.parameters);
    v.field("effect", &program.effect, one_of({"read_only", "mutating"}));
    v.field("title", &program.title);
    v.field("env", &program.env, shaped(form::identifier, false));
    v.field("cwd", &program.cwd, shaped(form::path));
  });
}

void visit(visitor& v, tools_config& x) {
  visit(v, x.defaults, false);
  v.rest(names(x.by_name), false, [&](const std::string& name) {
    const auto [entry, added] =
        x.by_name.try_emplace(name, with_tool_defaults(name, x.defaults));
    if (name == "fetch")
      v.field("allow", &x.fetch_allow, shaped(form::endpoint, false));
    if (name == "bash") v.field("read_only", &entry->second.read_only);
    visit_command(v, entry->second);
    visit(v, entry->second, true);
  });
}

void visit(visitor& v, supervision_config& x) {
  v.field("intensity", &x.intensity);
  v.field("period", &x.period, interval());
  v.field("cool_down", &x.cool_down, time_limit());
  v.table("backoff", [&] {
    v.field("base", &x.backoff_base, time_limit());
    v.field("cap", &x.backoff_cap, time_limit());
  });
}

void visit(visitor& v, publish_config& x) {
  v.field("batching", &x.batching, one_of({"token", "sentence", "adaptive"}));
  v.field("flush_delay", &x.flush_delay, from(0, 60));
  v.field("output_limit", &x.output_limit, from(0, 1e9));
}

void visit(visitor& v, approvals_config& x) {
  v.field("mode", &x.mode, one_of({"wait", "propose"}));
  v.field("expire_after", &x.expire_after, time_limit());
}

void visit(visitor& v, attachments_config& x) {
  v.field("max_file_bytes", &x.max_file_bytes, from(1, 1u << 30));
  v.field("max_total_bytes", &x.max_total_bytes, from(1, 1u << 30));
}

void visit(visitor& v, server_limits_config& x) {
  constexpr double most = 1u << 30;
  v.field("header_bytes", &x.header_bytes, from(1024, most));
  v.field("body_bytes", &x.body_bytes, from(1024, most));
  v.field("attachment_bytes", &x.attachment_bytes, from(1024, most));
  v.field("connections", &x.connections, from(1, 1e6));
  v.field("streams", &x.streams, from(1, 1e6));
  v.field("streams_per_token", &x.streams_per_token, from(1, 1e6));
  v.field("runs", &x.runs);
  v.field("requests_per_second", &x.requests_per_second);
}

void visit(visitor& v, server_tls_config& x) {
  v.field("certificate", &x.certificate, shaped(form::path));
  v.field("key", &x.key, shaped(form::path));
}

void visit(visitor& v, token_config& x) {
  v.field("hash", &x.hash);
  v.field("roles", &x.roles, one_of({"run", "decide", "read", "admin"}));
  v.field("agents", &x.agents, shaped(form::any, false));
  v.field("sessions", &x.sessions, one_of({"own", "all"}));
  v.field("workspace", &x.workspace, shaped(form::folder, false));
}

void visit(visitor& v, server_config& x) {
  v.field("listen", &x.listen, shaped(form::address, false));
  v.field("token_env", &x.token_env, shaped(form::identifier));
  v.field("on_stop", &x.on_stop, one_of({"finish", "cancel", "leave"}));
  v.field("stop_timeout", &x.stop_timeout, time_limit());
  v.field("stall_timeout", &x.stall_timeout, from(1, seconds_of_a_year));
  v.field("heartbeat", &x.heartbeat, from(1, seconds_of_a_year));
  v.field("retry", &x.retry, from(0, 3600));
  v.field("request_timeout", &x.request_timeout, from(1, seconds_of_a_year));
  v.field("recover_at_once", &x.recover_at_once, from(1, 1024));
  v.field("hosts", &x.hosts, shaped(form::any, false));
  v.field("origins", &x.origins, shaped(form::url, false));
  v.field("trusted_proxies", &x.trusted_proxies, shaped(form::endpoint, false));
  v.table("limits", [&] { visit(v, x.limits); });
  v.table("tls", [&] { visit(v, x.tls); });
  v.table("tokens", [&] {
    v.rest(names(x.tokens), false,
           [&](const std::string& name) { visit(v, x.tokens[name]); });
  });
}

void visit(visitor& v, tls_config& x) {
  v.field("certificate", &x.certificate, shaped(form::path));
  v.field("key", &x.key, shaped(form::path));
  v.field("ca", &x.ca, shaped(form::path));
}

void visit(visitor& v, cluster_config& x) {
  v.field("listen", &x.listen, shaped(form::address));
  v.field("join", &x.join, shaped(form::address));
  v.field("name", &x.name);
  v.field("group", &x.group);
  v.field("insecure", &x.insecure);
  v.field("join_timeout", &x.join_timeout, time_limit());
  v.field("heartbeat", &x.heartbeat, interval());
  v.field("timeout", &x.timeout, interval());
  v.field("orphan_after", &x.orphan_after, interval());
  v.field("max_frame", &x.max_frame, from(1u << 20, 1u << 30));
  v.table("tls", [&] { visit(v, x.tls); });
}

void visit(visitor& v, node_config& x) {
  v.field("tools", &x.tools);
  v.field("labels", &x.labels);
  v.field("drain_timeout", &x.drain_timeout, time_limit());
}

}  // namespace

void visit(visitor& v, provider& x) {
  rule not_empty;
  not_empty.empty_allowed = false;
  auto& settings = x.settings;
  v.field("keeps", &x.keeps, not_empty);
  v.field("start", &x.start, not_empty);
  visit_server(v, settings);
  visit(v, settings.parameters);
  visit_limits(v, settings);
  v.table("timeouts", [&] { visit(v, settings.timeouts); });
  v.table("quirks", [&] { visit(v, x.odd); });
}

void visit(visitor& v, config& x) {
  v.table("runtime", [&] { visit(v, x.runtime); });
  v.table("models", [&] {
    v.rest(names(x.models), true, [&](const std::string& name) {
      const auto known = provided_model(name);
      visit(v, x.models.try_emplace(name, known.value_or(model_config{}))
                   .first->second);
    });
  });
  v.table("agents", [&] {
    v.rest(names(x.agents), false,
           [&](const std::string& name) { visit(v, x.agents[name]); });
  });
  v.table("tools", [&] { visit(v, x.tools); });
  v.table("mcp", [&] {
    v.rest(names(x.mcp), false,
           [&](const std::string& name) { visit(v, x.mcp[name]); });
  });
  v.table("mcp_server", [&] { v.field("tools", &x.mcp_server.tools); });
  v.table("supervision", [&] { visit(v, x.supervision); });
  v.table("publish", [&] { visit(v, x.publish); });
  v.table("approvals", [&] { visit(v, x.approvals); });
  v.table("attachments", [&] { visit(v, x.attachments); });
  v.table("server", [&] { visit(v, x.server); });
  v.table("cluster", [&] { visit(v, x.cluster); });
  v.table("node", [&] { visit(v, x.node); });
}

}  // namespace riffle::config
