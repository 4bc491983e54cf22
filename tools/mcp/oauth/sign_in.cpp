// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/sign_in.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "tools/mcp/http_exchange.hpp"
#include "tools/mcp/oauth/way_back.hpp"

namespace riffle::mcp::oauth {

namespace {

using std::chrono::steady_clock;

constexpr auto probe_limit = std::chrono::seconds{30};
constexpr std::size_t state_bytes = 24;
constexpr std::size_t most_givers = 5;
constexpr int ok = 200;
constexpr int unauthorized = 401;
constexpr int server_fault = 500;

unexpected stopped_at(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

/// What the server says to a request without a token. Nothing: it asks for
/// none.
expected<std::optional<challenge>> ask_without_token(const sign_in_options& x) {
  exchange_request ask;
  ask.url = x.server;
  ask.headers = x.headers;
  ask.headers.emplace_back("Content-Type: application/json");
  ask.headers.emplace_back("Accept: application/json, text/event-stream");
  ask.body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  ask.stop = x.stop;
  ask.until = steady_clock::now() + probe_limit;
  const auto end = exchange(ask);
  if (end.stopped) return stopped_at(errc::cancelled, "it was stopped");
  if (end.status == 0)
    return stopped_at(errc::tool_unavailable,
                      "the server cannot be reached: " +
                          (end.late ? "no answer in time" : end.problem));
  if (end.status != unauthorized) return std::optional<challenge>{};
  return read_challenge(end.authenticate);
}

/// The first of the documents that is there. Nothing: there is none of them.
expected<std::optional<json>> first_document(
    const std::vector<std::string>& urls, const reach& to,
    const std::stop_token& stop) {
  for (const auto& url : urls) {
    auto answer = to.get(url, stop);
    if (!answer) return unexpected{std::move(answer.error())};
    if (answer->status == ok && answer->body.is_object())
      return std::move(answer->body);
    if (answer->status >= server_fault)
      return stopped_at(
          errc::tool_unavailable,
          url + " answers with HTTP " + std::to_string(answer->status));
  }
  return std::optional<json>{};
}

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& x : all) out = with_scopes(out, x);
  return out;
}

expected<authorization_server> find_server(const std::string& issuer,
                                           const reach& to,
                                           const std::stop_token& stop) {
  const auto urls = authorization_metadata_urls(issuer);
  const auto found = first_document(urls, to, stop);
  if (!found) return unexpected{found.error()};
  if (*found) return read_authorization_metadata(**found, issuer);
  return stopped_at(errc::not_found, "the authorization server " + issuer +
                                         " says nothing of itself");
}

/// Servers of 2025-03-26 have no metadata of their own: they give their tokens
/// themselves, or name who does.
expected<authorization_server> find_older_server(const std::string& server,
                                                 const reach& to,
                                                 const std::stop_token& stop) {
  const auto origin = origin_of(server);
  const auto found =
      first_document(authorization_metadata_urls(origin), to, stop);
  if (!found) return unexpected{found.error()};
  if (*found) return read_authorization_metadata(**found, "");
  return server_without_metadata(origin);
}

expected<void> check_places(const authorization_server& at, const reach& to) {
  for (const auto& url :
       {at.authorization_endpoint, at.token_endpoint, at.registration_endpoint})
    if (!url.empty())
      if (const auto why = to.refusal(url))
        return stopped_at(errc::invalid_request,
                          "the authorization server names " + url +
                              ", which is not asked: " + *why);
  return {};
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

expected<giver> find_giver(const std::string& server,
                           const std::optional<challenge>& asked,
                           const reach& to, const std::stop_token& stop) {
  giver out;
  out.resource = server.substr(0, server.find('#'));
  if (asked) out.scope = asked->scope;
  auto urls = resource_metadata_urls(server);
  if (asked && !asked->resource_metadata.empty())
    urls = {asked->resource_metadata};
  const auto document = first_document(urls, to, stop);
  if (!document) return unexpected{document.error()};
  expected<authorization_server> at = tl::unexpected{error{}};
  if (*document) {
    auto about = read_resource_metadata(**document, server);
    if (!about) return unexpected{std::move(about.error())};
    out.resource = about->resource;
    if (out.scope.empty()) out.scope = joined(about->scopes);
    auto& all = about->authorization_servers;
    if (all.empty()) all.push_back(origin_of(server));
    if (all.size() > most_givers) all.resize(most_givers);
    for (std::size_t i = 0; i < all.size() && !at; ++i)
      at = find_server(all[i], to, stop);
  } else if (asked) {
    at = find_older_server(server, to, stop);
  } else {
    return stopped_at(errc::not_found,
                      "the server asks for no token, and says nothing of who "
                      "gives one");
  }
  if (!at) return unexpected{std::move(at.error())};
  if (auto good = check_places(*at, to); !good)
    return unexpected{std::move(good.error())};
  out.at = *std::move(at);
  return out;
}

expected<login> sign_in(const sign_in_options& x) {
  const reach to{x.server, x.allowed};
  if (const auto why = to.refusal(x.server))
    return stopped_at(errc::invalid_request,
                      "no token must travel to " + x.server + ": " + *why);
  const auto asked = ask_without_token(x);
  if (!asked) return unexpected{asked.error()};
  const auto from = find_giver(x.server, *asked, to, x.stop);
  if (!from) return unexpected{from.error()};
  auto back = way_back::open(x.port);
  if (!back) return unexpected{std::move(back.error())};
  login out;
  out.server = x.server;
  out.resource = from->resource;
  out.issuer = from->at.issuer;
  out.token_endpoint = from->at.token_endpoint;
  out.revocation_endpoint = from->at.revocation_endpoint;
  out.scope = scope_of(x, *from);
  auto as = client_of(x, from->at, back->url(), out.scope, to);
  if (!as) return unexpected{std::move(as.error())};
  out.as = *std::move(as);
  const auto proved = make_proof();
  const auto code = code_of_person(x, *from, out, proved, *back);
  if (!code) return unexpected{code.error()};
  if (auto done =
          exchange_code(out, *code, proved.verifier, back->url(), to, x.stop);
      !done)
    return unexpected{std::move(done.error())};
  return out;
}

}  // namespace riffle::mcp::oauth
