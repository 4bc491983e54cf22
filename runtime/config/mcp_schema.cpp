// SPDX-License-Identifier: MIT
// The keys of [mcp.NAME].
#include "runtime/config/schema.hpp"

namespace riffle::config {

namespace {

constexpr double seconds_of_a_year = 366.0 * 24 * 3600;
constexpr double millisecond = 0.001;

void visit_tool(visitor& v, mcp_tool_config& x) {
  v.field("effect", &x.effect, one_of({"read_only", "mutating"}));
  v.field("keys", &x.keys, shaped(form::pointer));
  v.field("timeout", &x.timeout, from(0, seconds_of_a_year));
  v.field("preview", &x.preview);
}

void visit_auth(visitor& v, mcp_auth_config& x) {
  v.field("grant", &x.grant,
          one_of({"login", "client_credentials", "workload_identity",
                  "enterprise"}));
  v.field("issuer", &x.issuer, shaped(form::url));
  v.field("scope", &x.scope);
  v.field("dpop", &x.dpop, one_of({"auto", "always", "never"}));
  v.field("private_key_file", &x.private_key_file, shaped(form::path));
  v.field("private_key_env", &x.private_key_env, shaped(form::identifier));
  v.field("key_id", &x.key_id);
  v.field("token_file", &x.token_file, shaped(form::path));
  v.field("token_env", &x.token_env, shaped(form::identifier));
  v.field("idp", &x.idp, shaped(form::url));
  v.field("idp_client_id", &x.idp_client_id);
  v.field("idp_client_secret_env", &x.idp_client_secret_env,
          shaped(form::identifier));
}

}  // namespace

void visit(visitor& v, mcp_config& x) {
  v.field("command", &x.command);
  v.field("url", &x.url, shaped(form::url));
  v.field("agents", &x.agents);
  v.field("env", &x.env, shaped(form::identifier, false));
  v.field("variables", &x.variables, shaped(form::texts));
  v.field("cwd", &x.cwd, shaped(form::path));
  v.field("headers", &x.headers, shaped(form::texts));
  v.field("token_env", &x.token_env, shaped(form::identifier));
  v.field("client_id", &x.client_id);
  v.field("client_secret_env", &x.client_secret_env, shaped(form::identifier));
  v.field("trust", &x.trust, one_of({"none", "annotations"}));
  v.field("startup_timeout", &x.startup_timeout,
          from(millisecond, seconds_of_a_year));
  v.field("timeout", &x.timeout, from(0, seconds_of_a_year));
  v.field("roots", &x.roots, shaped(form::any, false));
  v.field("elicitation", &x.elicitation, one_of({"decline", "defaults"}));
  v.table("auth", [&] { visit_auth(v, x.auth); });
  v.table("tools", [&] {
    std::vector<std::string> known;
    for (const auto& [name, ignored] : x.tools) known.push_back(name);
    v.rest(known, true,
           [&](const std::string& name) { visit_tool(v, x.tools[name]); });
  });
}

}  // namespace riffle::config
