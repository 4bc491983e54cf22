// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/unattended.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/oauth/grants.hpp"
#include "tools/mcp/oauth/token_request.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr auto limit_of_request = std::chrono::seconds{10};
constexpr std::int64_t us_of_second = 1'000'000;
constexpr std::int64_t life_of_assertion = 60;  // seconds
constexpr std::size_t id_bytes = 16;
constexpr int ok = 200;

constexpr const char* by_jwt = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr const char* by_exchange =
    "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr const char* assertion_type =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr const char* id_jag = "urn:ietf:params:oauth:token-type:id-jag";
constexpr const char* id_token = "urn:ietf:params:oauth:token-type:id_token";

unexpected stopped_at(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.token", .message = redact(std::move(message))}};
}

bool holds(const std::vector<std::string>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

std::string list_of(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& x : all) out += (out.empty() ? "" : ", ") + x;
  return with_dots(out, 200);
}

/// Puts a secret into `who`, as the server takes it.
expected<void> add_secret_to(client& who, const secret_source& from,
                             const authorization_server& at) {
  auto secret = from();
  if (!secret) return unexpected{std::move(secret.error())};
  who.secret = *std::move(secret);
  add_secret(who.secret);
  who.auth = auth_method_of(at, true);
  if (who.auth != "none") return {};
  return stopped_at(
      errc::invalid_request,
      at.issuer +
          " takes no secret of a client, but: " + list_of(at.auth_methods) +
          (holds(at.auth_methods, "private_key_jwt")
               ? "; give auth.private_key_file instead of client_secret_env"
               : ""));
}

std::vector<endpoint> open_to(const unattended_options& x) {
  return with_host_of(x.idp, with_host_of(x.issuer, x.allowed));
}

}  // namespace

unattended::unattended(unattended_options options)
    : options_{std::move(options)},
      to_{options_.server, open_to(options_), limit_of_request} {}

expected<login> unattended::ask(const std::stop_token& stop, bool anew) {
  if (anew) from_.reset();
  return ask_by(to_.within(options_.limit), stop);
}

expected<login> unattended::ask_by(const reach& to,
                                   const std::stop_token& stop) {
  if (!from_)
    if (auto found = find(to, stop); !found)
      return unexpected{std::move(found.error())};
  auto all = what_is_asked(to, stop);
  if (!all) return unexpected{std::move(all.error())};
  const auto scope = options_.scope.empty() ? from_->scope : options_.scope;
  if (!scope.empty()) all->emplace_back("scope", scope);
  all->emplace_back("resource", from_->resource);
  const auto who = as_client();
  if (!who) return unexpected{who.error()};
  const auto form = [&]() -> expected<fields> {
    auto out = options_.private_key ? signed_by_key() : fields{};
    if (out) out->insert(out->begin(), all->begin(), all->end());
    return out;
  };
  const auto answer = send_form(*who, from_->at.token_endpoint, form, to,
                                bound_to_ ? &*bound_to_ : nullptr, stop);
  auto out = answer ? taken(*answer, scope)
                    : expected<login>{unexpected{answer.error()}};
  // What was found out may be why: the next one looks again.
  if (!out) from_.reset();
  return out;
}

/// The token of an answer.
expected<login> unattended::taken(const reach_answer& answer,
                                  const std::string& scope) {
  login out;
  out.server = options_.server;
  out.resource = from_->resource;
  out.issuer = from_->at.issuer;
  out.token_endpoint = from_->at.token_endpoint;
  out.scope = scope;
  if (bound_to_) out.dpop_key = bound_to_->to_text();
  out.bound_only = bound_to_ && (from_->bound_only || was_bound_ ||
                                 options_.dpop == dpop_use::always);
  if (auto done = take_tokens(out, answer); !done) {
    secrets_.add(text_in(answer.body, "access_token"));
    return unexpected{std::move(done.error())};
  }
  was_bound_ = out.bound_only;
  out.refresh_token.clear();
  return out;
}

/// Who gives tokens, and whether they are bound to a key.
expected<void> unattended::find(const reach& to, const std::stop_token& stop) {
  if (const auto why = to.refusal(options_.server))
    return stopped_at(errc::invalid_request, "no token must travel to " +
                                                 options_.server + ": " + *why);
  const auto asked =
      ask_without_token(options_.server, options_.headers, to, stop);
  if (!asked) return unexpected{asked.error()};
  auto found =
      find_giver({options_.server, options_.issuer, false}, *asked, to, stop);
  if (!found) return unexpected{std::move(found.error())};
  from_ = *std::move(found);
  auto good = check_giver();
  const auto bound =
      binds_token(options_.dpop, from_->bound_only, from_->at.proof_algorithms);
  if (good && !bound) good = unexpected{bound.error()};
  if (good) good = check_binding(*bound);
  if (!good) from_.reset();
  if (good && *bound && !bound_to_) bound_to_ = signing_key::make();
  if (good && !*bound) bound_to_.reset();
  return good;
}

/// A server that names somebody else must not get a secret there, nor what is
/// signed for somebody else.
expected<void> unattended::check_giver() const {
  const auto& at = from_->at;
  const auto own = origin_of(options_.server);
  if (!options_.issuer.empty() ||
      (origin_of(at.issuer) == own && origin_of(at.token_endpoint) == own))
    return {};
  return stopped_at(
      errc::invalid_config,
      "the server names " + with_dots(at.issuer, 200) +
          " as who gives its tokens" +
          (origin_of(at.issuer) == own
               ? ", at " + with_dots(at.token_endpoint, 200)
               : "") +
          ": if that is right, say so in auth.issuer, for secrets are sent "
          "there");
}

/// A binding is never given up.
expected<void> unattended::check_binding(bool binds) const {
  if (binds || !was_bound_) return {};
  return stopped_at(errc::invalid_request,
                    from_->at.issuer +
                        " has bound tokens to a key (DPoP), and says now that "
                        "it cannot: if that is right, start Riffle anew");
}

/// Who asks; a key shows it in the form, see `signed_by_key`.
expected<client> unattended::as_client() const {
  client out;
  out.id = options_.client_id;
  if (options_.private_key) {
    out.auth = "private_key_jwt";
  } else if (options_.client_secret) {
    if (auto done = add_secret_to(out, options_.client_secret, from_->at);
        !done)
      return unexpected{std::move(done.error())};
  }
  return out;
}

/// RFC 7523, 2.2.
expected<fields> unattended::signed_by_key() {
  const auto pem = options_.private_key();
  if (!pem) return unexpected{pem.error()};
  add_secret(*pem);
  const auto key = signing_key::from_pem(*pem);
  if (!key)
    return stopped_at(errc::invalid_config,
                      "what auth.private_key_file or auth.private_key_env "
                      "gives " +
                          key.error().message);
  const auto& at = from_->at;
  if (!at.auth_methods.empty() && !holds(at.auth_methods, "private_key_jwt"))
    return stopped_at(errc::invalid_request,
                      at.issuer + " takes no signature of a client, but: " +
                          list_of(at.auth_methods));
  const auto& known = at.auth_algorithms;
  const auto algorithm = std::ranges::find_if(
      key->algorithms(),
      [&](const std::string& x) { return known.empty() || holds(known, x); });
  if (algorithm == key->algorithms().end())
    return stopped_at(errc::invalid_request,
                      at.issuer + " takes no " + list_of(key->algorithms()) +
                          " of the client's key, but: " + list_of(known));
  const auto now = system_wall_time().us / us_of_second;
  json header = {{"typ", "JWT"}};
  if (!options_.key_id.empty()) header["kid"] = options_.key_id;
  auto signed_text = key->token(*algorithm, std::move(header),
                                {{"iss", options_.client_id},
                                 {"sub", options_.client_id},
                                 {"aud", at.issuer},
                                 {"iat", now},
                                 {"exp", now + life_of_assertion},
                                 {"jti", random_text(id_bytes)}});
  secrets_.add(signed_text);
  return fields{{"client_assertion_type", assertion_type},
                {"client_assertion", std::move(signed_text)}};
}

/// That a person or a platform gave: nothing else stands in a form.
expected<std::string> unattended::identity_token() {
  auto out = options_.identity();
  if (!out) return out;
  secrets_.add(*out);
  if (!is_token(*out))
    return stopped_at(errc::invalid_config,
                      "what auth.token_file or auth.token_env gives is no "
                      "token: it has blanks or line ends in it, or is empty");
  return out;
}

expected<fields> unattended::what_is_asked(const reach& to,
                                           const std::stop_token& stop) {
  if (options_.grant == unattended_grant::client_credentials)
    return fields{{"grant_type", "client_credentials"}};
  auto identity = identity_token();
  if (identity && options_.grant == unattended_grant::enterprise)
    identity = exchanged(*identity, to, stop);
  if (!identity) return unexpected{std::move(identity.error())};
  return fields{{"grant_type", by_jwt}, {"assertion", *std::move(identity)}};
}

/// What a person's company says about this server: an ID-JAG, for the token of
/// its identity provider.
expected<std::string> unattended::exchanged(const std::string& identity,
                                            const reach& to,
                                            const std::stop_token& stop) {
  const auto at = find_server(options_.idp, to, stop);
  if (!at) return unexpected{at.error()};
  client who;
  who.id = options_.idp_client_id;
  if (options_.idp_client_secret)
    if (auto done = add_secret_to(who, options_.idp_client_secret, *at); !done)
      return unexpected{std::move(done.error())};
  fields all{{"grant_type", by_exchange},    {"requested_token_type", id_jag},
             {"audience", from_->at.issuer}, {"resource", from_->resource},
             {"subject_token", identity},    {"subject_token_type", id_token}};
  const auto& scope = options_.scope.empty() ? from_->scope : options_.scope;
  if (!scope.empty()) all.emplace_back("scope", scope);
  const auto answer = send_form(
      who, at->token_endpoint, [&] { return expected<fields>{all}; }, to,
      nullptr, stop);
  if (!answer) return unexpected{answer.error()};
  if (answer->status != ok)
    return stopped_at(errc::approval_denied,
                      "the identity provider gives nothing for the token in "
                      "auth.token_file or auth.token_env: " +
                          words_of(*answer));
  auto out = text_in(answer->body, "access_token");
  secrets_.add(out);
  if (!is_token(out) ||
      text_in(answer->body, "issued_token_type") != std::string_view{id_jag})
    return stopped_at(errc::invalid_request,
                      "the identity provider's answer holds no ID-JAG");
  return out;
}

}  // namespace riffle::mcp::oauth
