// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/grants.hpp"

#include <algorithm>
#include <stdexcept>
#include <sys/random.h>

#include "runtime/base/secrets.hpp"
#include "tools/mcp/oauth/token_request.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::size_t verifier_bytes = 32;
constexpr int ok = 200;
constexpr int created = 201;

unexpected failure(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

}  // namespace

std::string random_text(std::size_t bytes) {
  std::string out(bytes, '\0');
  if (::getrandom(out.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    throw std::runtime_error{"the system gives no random bytes"};
  return base64_url(out);
}

std::string challenge_of(std::string_view verifier) {
  return sha256_url(verifier);
}

proof make_proof() {
  auto verifier = random_text(verifier_bytes);
  auto challenge = challenge_of(verifier);
  return {std::move(challenge), std::move(verifier)};
}

std::string auth_method_of(const authorization_server& at, bool has_secret) {
  if (!has_secret) return "none";
  const auto& all = at.auth_methods;
  const auto knows = [&](std::string_view x) {
    return std::ranges::find(all, x) != all.end();
  };
  // RFC 8414: where nothing is said, it is the first.
  if (all.empty() || knows("client_secret_basic")) return "client_secret_basic";
  return knows("client_secret_post") ? "client_secret_post" : "none";
}

expected<client> register_client(const authorization_server& at,
                                 const std::string& redirect,
                                 const std::string& scope, const reach& to,
                                 const std::stop_token& stop) {
  const auto& all = at.auth_methods;
  const bool open = all.empty() || std::ranges::find(all, "none") != all.end();
  json x = {
      {"client_name", "Riffle"},
      {"redirect_uris", {redirect}},
      {"grant_types", {"authorization_code", "refresh_token"}},
      {"response_types", {"code"}},
      {"application_type", "native"},
      {"token_endpoint_auth_method", open ? "none" : auth_method_of(at, true)}};
  if (!scope.empty()) x["scope"] = scope;
  const auto answer = to.post(
      at.registration_endpoint, [&] { return expected<std::string>{x.dump()}; },
      {"Content-Type: application/json"}, stop);
  if (!answer) return unexpected{answer.error()};
  client out;
  out.id = text_in(answer->body, "client_id");
  out.secret = text_in(answer->body, "client_secret");
  add_secret(out.secret);
  if ((answer->status != ok && answer->status != created) || out.id.empty())
    return failure(errc::invalid_request,
                   "the authorization server does not register this program "
                   "(" +
                       words_of(*answer) +
                       "); name a client that it knows: --client-id");
  out.auth = text_in(answer->body, "token_endpoint_auth_method");
  const bool known = out.auth == "none" || out.auth == "client_secret_basic" ||
                     out.auth == "client_secret_post";
  if (!known) out.auth = auth_method_of(at, !out.secret.empty());
  if (out.secret.empty()) out.auth = "none";
  return out;
}

std::string authorization_url(const authorization_server& at,
                              const fields& parameters) {
  const auto& base = at.authorization_endpoint;
  const char* sign = base.find('?') == base.npos ? "?" : "&";
  return base.substr(0, base.find('#')) + sign + form_of(parameters);
}

expected<void> exchange_code(login& x, const std::string& code,
                             const std::string& verifier,
                             const std::string& redirect, const reach& to,
                             const std::stop_token& stop) {
  add_secret(code);
  add_secret(verifier);
  const auto answer = send_form(x, x.token_endpoint,
                                {{"grant_type", "authorization_code"},
                                 {"code", code},
                                 {"redirect_uri", redirect},
                                 {"code_verifier", verifier},
                                 {"resource", x.resource}},
                                to, stop);
  if (!answer) return unexpected{answer.error()};
  return take_tokens(x, *answer);
}

expected<void> refresh(login& x, const reach& to, const std::stop_token& stop) {
  const auto answer = send_form(x, x.token_endpoint,
                                {{"grant_type", "refresh_token"},
                                 {"refresh_token", x.refresh_token},
                                 {"resource", x.resource}},
                                to, stop);
  if (!answer) return unexpected{answer.error()};
  const auto why = text_in(answer->body, "error");
  const bool ended = why == "invalid_grant" || why == "invalid_client" ||
                     why == "unauthorized_client";
  if (answer->status != ok && !ended)
    return failure(errc::tool_unavailable,
                   "the authorization server gives no token just now: " +
                       words_of(*answer));
  return take_tokens(x, *answer);
}

expected<void> revoke(const login& x, const reach& to,
                      const std::stop_token& stop) {
  if (x.revocation_endpoint.empty()) return {};
  const bool whole = !x.refresh_token.empty();
  const auto answer =
      send_form(x, x.revocation_endpoint,
                {{"token", whole ? x.refresh_token : x.access_token},
                 {"token_type_hint", whole ? "refresh_token" : "access_token"}},
                to, stop);
  if (!answer) return unexpected{answer.error()};
  if (answer->status != ok)
    return failure(errc::invalid_request, words_of(*answer));
  return {};
}

}  // namespace riffle::mcp::oauth
