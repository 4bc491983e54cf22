// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/giver.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "tools/mcp/http_exchange.hpp"

namespace riffle::mcp::oauth {

namespace {

using std::chrono::steady_clock;

constexpr auto probe_limit = std::chrono::seconds{30};
constexpr std::size_t most_givers = 5;
constexpr int ok = 200;
constexpr int unauthorized = 401;
constexpr int server_fault = 500;

unexpected stopped_at(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

unexpected is_another(const std::string& issuer) {
  return stopped_at(errc::invalid_request,
                    "the server does not name " + issuer +
                        " (auth.issuer) as who gives its tokens");
}

unexpected says_nothing(const std::string& issuer) {
  return stopped_at(errc::not_found, "the authorization server " + issuer +
                                         " says nothing of itself");
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

/// Servers of 2025-03-26 have no metadata of their own: they give their tokens
/// themselves, or name who does. Whom the configuration names is asked himself:
/// anybody can write his name into what he says of himself.
expected<authorization_server> find_older_server(const giver_wanted& wanted,
                                                 const reach& to,
                                                 const std::stop_token& stop) {
  const auto origin = origin_of(wanted.server);
  const bool named =
      !wanted.issuer.empty() && !is_same_issuer(origin, wanted.issuer);
  const auto found = first_document(
      authorization_metadata_urls(named ? wanted.issuer : origin), to, stop);
  if (!found) return unexpected{found.error()};
  if (!*found && named) return says_nothing(wanted.issuer);
  if (!*found) return server_without_metadata(origin);
  auto out = read_authorization_metadata(**found, wanted.issuer);
  if (!out || !wanted.for_person) return out;
  if (auto fit = fit_for_logins(*out); !fit)
    return unexpected{std::move(fit.error())};
  return out;
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

/// The one that the configuration wants, of those that the server names.
expected<std::vector<std::string>> wanted_of(std::vector<std::string> all,
                                             const giver_wanted& wanted) {
  if (all.empty()) all.push_back(origin_of(wanted.server));
  if (!wanted.issuer.empty()) {
    std::erase_if(all, [&](const std::string& x) {
      return !is_same_issuer(x, wanted.issuer);
    });
    if (all.empty()) return is_another(wanted.issuer);
  }
  if (all.size() > most_givers) all.resize(most_givers);
  return all;
}

/// The first that can be asked.
expected<authorization_server> first_server(std::vector<std::string> all,
                                            const giver_wanted& wanted,
                                            const reach& to,
                                            const std::stop_token& stop) {
  const auto issuers = wanted_of(std::move(all), wanted);
  if (!issuers) return unexpected{issuers.error()};
  expected<authorization_server> out = tl::unexpected{error{}};
  for (std::size_t i = 0; i < issuers->size() && !out; ++i) {
    out = find_server(issuers->at(i), to, stop);
    if (!out || !wanted.for_person) continue;
    if (auto fit = fit_for_logins(*out); !fit)
      out = tl::unexpected{std::move(fit.error())};
  }
  return out;
}

}  // namespace

expected<std::optional<challenge>> ask_without_token(
    const std::string& server, std::vector<std::string> headers,
    const reach& to, const std::stop_token& stop) {
  exchange_request ask;
  ask.url = server;
  ask.headers = std::move(headers);
  ask.headers.emplace_back("Content-Type: application/json");
  ask.headers.emplace_back("Accept: application/json, text/event-stream");
  ask.body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  ask.stop = stop;
  ask.until = steady_clock::now() + probe_limit;
  if (const auto end = to.end()) ask.until = std::min(ask.until, *end);
  const auto end = exchange(ask);
  if (end.stopped) return stopped_at(errc::cancelled, "it was stopped");
  if (end.status == 0)
    return stopped_at(errc::tool_unavailable,
                      "the server cannot be reached: " +
                          (end.late ? "no answer in time" : end.problem));
  if (end.status != unauthorized) return std::optional<challenge>{};
  return read_challenge(end.authenticate);
}

expected<authorization_server> find_server(const std::string& issuer,
                                           const reach& to,
                                           const std::stop_token& stop) {
  const auto urls = authorization_metadata_urls(issuer);
  const auto found = first_document(urls, to, stop);
  if (!found) return unexpected{found.error()};
  if (*found) return read_authorization_metadata(**found, issuer);
  return says_nothing(issuer);
}

expected<giver> find_giver(const giver_wanted& wanted,
                           const std::optional<challenge>& asked,
                           const reach& to, const std::stop_token& stop) {
  giver out;
  const auto& server = wanted.server;
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
    out.bound_only = about->bound_only;
    at =
        first_server(std::move(about->authorization_servers), wanted, to, stop);
  } else if (asked) {
    at = find_older_server(wanted, to, stop);
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

}  // namespace riffle::mcp::oauth
