// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/grants.hpp"

#include <algorithm>
#include <stdexcept>
#include <sys/random.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::size_t verifier_bytes = 32;
constexpr std::size_t longest_token = 64u << 10;
constexpr std::int64_t longest_life = 10LL * 366 * 24 * 3600;
constexpr std::int64_t us_of_second = 1'000'000;
constexpr int ok = 200;
constexpr int created = 201;

unexpected failure(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

/// RFC 4648, 5: for URLs, without padding.
std::string base64_url(std::string_view bytes) {
  auto out = to_base64(bytes);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  while (out.ends_with('=')) out.pop_back();
  return out;
}

std::string text_in(const json& x, const char* key) {
  if (!x.is_object()) return {};
  const auto found = x.find(key);
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

/// What an error of OAuth says, in words; its own are somebody else's.
std::string words_of(const reach_answer& x) {
  auto out = "HTTP " + std::to_string(x.status);
  if (const auto code = text_in(x.body, "error"); !code.empty())
    out += ", " + with_dots(code, 100);
  if (const auto more = text_in(x.body, "error_description"); !more.empty())
    out += ": " + with_dots(more, 300);
  return out;
}

/// A token stands in a header: nothing else may begin in it.
bool is_token(const std::string& x) {
  return !x.empty() && x.size() <= longest_token &&
         std::ranges::all_of(x, [](char c) { return c > ' ' && c < 0x7f; });
}

expected<reach_answer> send_form(const login& x, const std::string& url,
                                 fields all, const reach& to,
                                 const std::stop_token& stop) {
  std::vector<std::string> headers{
      "Content-Type: application/x-www-form-urlencoded"};
  if (x.as.auth == "client_secret_basic") {
    const auto pair =
        percent_encoded(x.as.id) + ":" + percent_encoded(x.as.secret);
    add_secret(to_base64(pair));
    headers.push_back("Authorization: Basic " + to_base64(pair));
  } else {
    all.emplace_back("client_id", x.as.id);
    if (x.as.auth == "client_secret_post")
      all.emplace_back("client_secret", x.as.secret);
  }
  return to.post(url, form_of(all), std::move(headers), stop);
}

expected<void> take_tokens(login& x, const reach_answer& answer) {
  if (answer.status != ok)
    return failure(
        errc::approval_denied,
        "the authorization server gives no token: " + words_of(answer));
  const auto token = text_in(answer.body, "access_token");
  add_secret(token);
  if (!is_token(token))
    return failure(errc::invalid_request,
                   "the authorization server's answer holds no token");
  if (const auto type = text_in(answer.body, "token_type");
      lower(type) != "bearer")
    return failure(
        errc::invalid_request,
        "the token is none for a bearer, but: " + with_dots(type, 100));
  x.access_token = token;
  if (auto next = text_in(answer.body, "refresh_token"); !next.empty())
    x.refresh_token = std::move(next);
  if (auto scope = text_in(answer.body, "scope"); !scope.empty())
    x.scope = std::move(scope);
  x.issued_at = system_wall_time().us / us_of_second;
  x.expires_at.reset();
  const auto life = answer.body.find("expires_in");
  if (life != answer.body.end() && life->is_number()) {
    const auto seconds =
        std::clamp(life->get<double>(), 0.0, static_cast<double>(longest_life));
    x.expires_at = x.issued_at + static_cast<std::int64_t>(seconds);
  }
  return {};
}

}  // namespace

std::string random_text(std::size_t bytes) {
  std::string out(bytes, '\0');
  if (::getrandom(out.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    throw std::runtime_error{"the system gives no random bytes"};
  return base64_url(out);
}

std::string challenge_of(std::string_view verifier) {
  const auto hex = sha256(verifier);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return base64_url(bytes);
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
  const auto answer = to.post(at.registration_endpoint, x.dump(),
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
