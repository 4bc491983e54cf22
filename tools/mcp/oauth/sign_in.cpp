// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/sign_in.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "tools/mcp/oauth/way_back.hpp"

namespace riffle::mcp::oauth {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t state_bytes = 24;

unexpected stopped_at(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

expected<client> client_of(const sign_in_options& x,
                           const authorization_server& at,
                           const std::string& redirect,
                           const std::string& scope, const reach& to) {
  if (!x.client_id.empty())
    return client{x.client_id, x.client_secret,
                  auth_method_of(at, !x.client_secret.empty())};
  if (at.registration_endpoint.empty())
    return stopped_at(
        errc::invalid_request,
        "its authorization server registers no programs: register one there "
        "by hand (its way back is http://127.0.0.1/callback) and name it: "
        "--client-id");
  return register_client(at, redirect, scope, to, x.stop);
}

std::string scope_of(const sign_in_options& x, const giver& from) {
  auto out = x.scope.empty() ? from.scope : x.scope;
  // Without it some give no token that can be refreshed.
  const auto& all = from.at.scopes;
  if (std::ranges::find(all, "offline_access") != all.end())
    out = with_scopes(out, "offline_access");
  return out;
}

/// Shows the way, waits for the code.
expected<std::string> code_of_person(const sign_in_options& x,
                                     const giver& from, const login& asked,
                                     const proof& proved, way_back& back) {
  const auto state = random_text(state_bytes);
  fields all{{"response_type", "code"},
             {"client_id", asked.as.id},
             {"redirect_uri", back.url()},
             {"state", state},
             {"code_challenge", proved.challenge},
             {"code_challenge_method", "S256"},
             {"resource", asked.resource}};
  if (!asked.scope.empty()) all.emplace_back("scope", asked.scope);
  if (with_scopes(asked.scope, "offline_access") == asked.scope)
    all.emplace_back("prompt", "consent");
  if (x.show) x.show(authorization_url(from.at, all));
  return back.wait({state, from.at.issuer, from.at.names_itself},
                   steady_clock::now() + x.limit, x.stop);
}

}  // namespace

expected<login> sign_in(const sign_in_options& x) {
  const auto to = reach{x.server, x.allowed}.within(x.asking);
  if (const auto why = to.refusal(x.server))
    return stopped_at(errc::invalid_request,
                      "no token must travel to " + x.server + ": " + *why);
  const auto asked = ask_without_token(x.server, x.headers, to, x.stop);
  if (!asked) return unexpected{asked.error()};
  const auto from = find_giver({x.server, x.issuer}, *asked, to, x.stop);
  if (!from) return unexpected{from.error()};
  const auto bound =
      binds_token(x.dpop, from->bound_only, from->at.proof_algorithms);
  if (!bound) return unexpected{bound.error()};
  auto back = way_back::open(x.port);
  if (!back) return unexpected{std::move(back.error())};
  login out;
  out.server = x.server;
  out.resource = from->resource;
  out.issuer = from->at.issuer;
  out.token_endpoint = from->at.token_endpoint;
  out.revocation_endpoint = from->at.revocation_endpoint;
  out.scope = scope_of(x, *from);
  if (*bound) out.dpop_key = signing_key::make().to_text();
  out.bound_only = *bound && (from->bound_only || x.dpop == dpop_use::always);
  auto as = client_of(x, from->at, back->url(), out.scope, to);
  if (!as) return unexpected{std::move(as.error())};
  out.as = *std::move(as);
  const auto proved = make_proof();
  const auto left = *to.end() - steady_clock::now();
  const auto code = code_of_person(x, *from, out, proved, *back);
  if (!code) return unexpected{code.error()};
  if (auto done = exchange_code(out, *code, proved.verifier, back->url(),
                                to.within(left), x.stop);
      !done)
    return unexpected{std::move(done.error())};
  return out;
}

}  // namespace riffle::mcp::oauth
