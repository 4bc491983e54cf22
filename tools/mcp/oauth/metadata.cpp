// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/metadata.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "tools/builtin/web/url.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::size_t most_texts = 200;
constexpr std::string_view no_place =
    "its authorization server does not say where it gives tokens";

unexpected refused(std::string message) {
  return unexpected{error{.code = errc::invalid_request,
                          .op = "mcp.login",
                          .message = std::move(message)}};
}

/// From the first slash behind the host to the query; empty instead of a lone
/// slash.
std::string path_of(std::string_view url) {
  const auto parsed = tools::parse_url(url);
  if (!parsed) return {};
  auto text = parsed->text.substr(0, parsed->text.find('?'));
  const auto begin = text.find('/', text.find("://") + 3);
  if (begin == text.npos) return {};
  text.erase(0, begin);
  if (text.ends_with('/')) text.pop_back();
  return text;
}

std::string text_of(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

std::vector<std::string> texts_of(const json& x, const char* key) {
  std::vector<std::string> out;
  const auto found = x.find(key);
  if (found == x.end() || !found->is_array()) return out;
  for (const auto& one : *found)
    if (one.is_string() && out.size() < most_texts)
      out.push_back(one.get<std::string>());
  return out;
}

bool holds(const std::vector<std::string>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

std::string_view without_slash(std::string_view text) {
  if (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

/// Whether a token for `resource` may go to `server`: the same origin, and a
/// path that begins with its own.
bool covers(std::string_view resource, std::string_view server) {
  const auto origin = origin_of(resource);
  if (origin.empty() || origin != origin_of(server)) return false;
  const auto outer = path_of(resource);
  const auto inner = path_of(server);
  return inner.starts_with(outer) &&
         (inner.size() == outer.size() || inner[outer.size()] == '/');
}

}  // namespace

std::string origin_of(std::string_view url) {
  const auto text = tools::url_spelling(url);
  if (!text) return {};
  return text->substr(0, text->find('/', text->find("://") + 3));
}

std::vector<std::string> resource_metadata_urls(std::string_view server) {
  const auto base = origin_of(server);
  if (base.empty()) return {};
  const auto root = base + "/.well-known/oauth-protected-resource";
  const auto path = path_of(server);
  if (path.empty()) return {root};
  return {root + path, root};
}

expected<resource_metadata> read_resource_metadata(const json& x,
                                                   std::string_view server) {
  resource_metadata out;
  out.resource = text_of(x, "resource");
  out.authorization_servers = texts_of(x, "authorization_servers");
  out.scopes = texts_of(x, "scopes_supported");
  const auto bound = x.find("dpop_bound_access_tokens_required");
  out.bound_only = bound != x.end() && *bound == true;
  if (!covers(out.resource, server))
    return refused("its metadata is of another resource: " +
                   with_dots(out.resource, 200));
  return out;
}

std::vector<std::string> authorization_metadata_urls(std::string_view issuer) {
  const auto base = origin_of(issuer);
  if (base.empty()) return {};
  const auto path = path_of(issuer);
  const auto oauth = base + "/.well-known/oauth-authorization-server";
  const auto openid = base + "/.well-known/openid-configuration";
  if (path.empty()) return {oauth, openid};
  return {oauth + path, openid + path,
          base + path + "/.well-known/openid-configuration"};
}

expected<authorization_server> read_authorization_metadata(
    const json& x, std::string_view issuer) {
  authorization_server out;
  out.issuer = text_of(x, "issuer");
  out.authorization_endpoint = text_of(x, "authorization_endpoint");
  out.token_endpoint = text_of(x, "token_endpoint");
  out.registration_endpoint = text_of(x, "registration_endpoint");
  out.revocation_endpoint = text_of(x, "revocation_endpoint");
  out.auth_methods = texts_of(x, "token_endpoint_auth_methods_supported");
  out.auth_algorithms =
      texts_of(x, "token_endpoint_auth_signing_alg_values_supported");
  out.proof_algorithms = texts_of(x, "dpop_signing_alg_values_supported");
  out.pkce_methods = texts_of(x, "code_challenge_methods_supported");
  out.scopes = texts_of(x, "scopes_supported");
  const auto names = x.find("authorization_response_iss_parameter_supported");
  out.names_itself = names != x.end() && *names == true;
  if (!issuer.empty() && !is_same_issuer(out.issuer, issuer))
    return refused("the metadata of " + with_dots(issuer, 200) +
                   " is of another issuer: " + with_dots(out.issuer, 200));
  if (out.token_endpoint.empty()) return refused(std::string{no_place});
  return out;
}

expected<void> fit_for_logins(const authorization_server& x) {
  if (x.authorization_endpoint.empty()) return refused(std::string{no_place});
  if (!holds(x.pkce_methods, "S256"))
    return refused(
        "its authorization server does not say that it knows PKCE with "
        "S256, without which a login can be stolen");
  return {};
}

bool is_same_issuer(std::string_view a, std::string_view b) {
  return without_slash(a) == without_slash(b);
}

authorization_server server_without_metadata(std::string_view origin) {
  authorization_server out;
  out.issuer = origin;
  out.authorization_endpoint = out.issuer + "/authorize";
  out.token_endpoint = out.issuer + "/token";
  out.registration_endpoint = out.issuer + "/register";
  return out;
}

}  // namespace riffle::mcp::oauth
