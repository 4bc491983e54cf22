// SPDX-License-Identifier: MIT
#include "runtime/node/mcp_auth.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "runtime/base/read_within.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/service/provider_key.hpp"
#include "tools/mcp/oauth/unattended.hpp"

namespace riffle {

namespace {

namespace oauth = mcp::oauth;

constexpr read_limits limits_of_secret{64u << 10, std::chrono::seconds{5}};

/// With another line in it, the server would see a header that nobody set.
bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

unexpected wrong(std::string message) {
  return unexpected{error{errc::invalid_config, "mcp", std::move(message)}};
}

unexpected bad_value(const std::string& what, const std::string& server) {
  return wrong(what + " of the server " + server +
               " holds a line end or another control character: set its "
               "variable without");
}

/// The token that the configuration gives a server; empty: none.
std::string given_token(const config::mcp_config& x) {
  if (!x.token_env.empty()) return "the token in " + x.token_env;
  for (const auto& [header, ignored] : config::texts_of(x.headers.text))
    if (lower(header) == "authorization")
      return "what headers says in Authorization";
  return {};
}

/// Where discovered addresses may lead, beside the public internet.
std::vector<endpoint> allowed_by(const config::config& config) {
  std::vector<endpoint> out;
  for (const auto& text : config.tools.fetch_allow)
    if (auto one = parse_endpoint(text)) out.push_back(*std::move(one));
  return out;
}

expected<std::string> of_variable(const std::string& key,
                                  const std::string& variable) {
  auto value = read_key(variable);
  if (!value) return wrong(key + ": the variable " + variable + " is not set");
  return *std::move(value);
}

/// Who may read a file of a secret.
enum class readers : std::uint8_t {
  owner,     ///< as its text is good for as long as nobody changes it
  platform,  ///< as whoever writes it anew, for a short time, has set it
};

expected<std::string> of_file(const std::string& key, const std::string& file,
                              readers who) {
  const auto path = config::resolve_home(file).value_or(file).string();
  struct stat x{};
  if (::stat(path.c_str(), &x) != 0)
    return wrong(key + ": " + path +
                 " cannot be read: " + std::strerror(errno));
  if (who == readers::owner && (x.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return wrong(key + ": others may read " + path + ": chmod 600 it");
  auto text = read_within(path, limits_of_secret);
  if (!text) return wrong(key + ": " + path + " " + text.error());
  return std::string{trimmed(*text)};
}

/// From a variable or a file, whichever is named; null: none is.
oauth::secret_source source_of(const std::string& key,
                               const std::string& variable,
                               const std::string& file = {},
                               readers who = readers::owner) {
  if (!variable.empty())
    return [=] { return of_variable(key + "_env", variable); };
  if (!file.empty()) return [=] { return of_file(key + "_file", file, who); };
  return {};
}

oauth::dpop_use dpop_of(const std::string& word) {
  if (word == "always") return oauth::dpop_use::always;
  return word == "never" ? oauth::dpop_use::never : oauth::dpop_use::automatic;
}

oauth::unattended_options unattended_of(const std::string& name,
                                        const config::config& config,
                                        std::vector<std::string> headers) {
  const auto& x = config.mcp.at(name);
  const auto& auth = x.auth;
  const auto table = "mcp." + name + ".";
  using grant = oauth::unattended_grant;
  oauth::unattended_options out;
  out.grant = auth.grant == "enterprise"          ? grant::enterprise
              : auth.grant == "workload_identity" ? grant::workload_identity
                                                  : grant::client_credentials;
  out.server = x.url;
  out.headers = std::move(headers);
  out.allowed = allowed_by(config);
  out.issuer = auth.issuer;
  out.scope = auth.scope;
  out.client_id = x.client_id;
  out.client_secret = source_of(table + "client_secret", x.client_secret_env);
  out.private_key = source_of(table + "auth.private_key", auth.private_key_env,
                              auth.private_key_file);
  out.key_id = auth.key_id;
  // A workload's token is written by its platform, as that sees fit.
  out.identity =
      source_of(table + "auth.token", auth.token_env, auth.token_file,
                out.grant == grant::workload_identity ? readers::platform
                                                      : readers::owner);
  out.idp = auth.idp;
  out.idp_client_id = auth.idp_client_id;
  out.idp_client_secret =
      source_of(table + "auth.idp_client_secret", auth.idp_client_secret_env);
  out.dpop = dpop_of(auth.dpop);
  return out;
}

std::filesystem::path login_in(const std::filesystem::path& memory,
                               const std::string& name) {
  return memory.empty() ? memory : memory / (name + ".login");
}

}  // namespace

expected<std::vector<std::string>> mcp_headers(const std::string& name,
                                               const config::mcp_config& x) {
  std::vector<std::string> out;
  add_secrets_of_url(x.url);
  for (const auto& [header, text] : config::texts_of(x.headers.text)) {
    auto value = service::expand(
        text, "the header " + header + " of the server " + name, true);
    if (!value) return unexpected{std::move(value.error())};
    if (has_control(*value)) return bad_value("the header " + header, name);
    out.push_back(header + ": " + *value);
  }
  if (x.token_env.empty()) return out;
  const auto token = of_variable("mcp." + name + ".token_env", x.token_env);
  if (!token) return unexpected{token.error()};
  // RFC 6750, 2.1: a token has no blanks.
  if (has_control(*token) || token->find(' ') != token->npos)
    return wrong("the token of the server " + name + " in " + x.token_env +
                 " holds a blank, a line end or another control character: "
                 "set it without");
  out.push_back("Authorization: Bearer " + *token);
  return out;
}

mcp::token_holder_options token_ways(const std::string& name,
                                     const config::config& config,
                                     const std::vector<std::string>& headers,
                                     const std::filesystem::path& memory) {
  const auto& x = config.mcp.at(name);
  mcp::token_holder_options out;
  out.name = name;
  out.server = x.url;
  out.allowed = oauth::with_host_of(x.auth.issuer, allowed_by(config));
  out.given = given_token(x);
  if (x.auth.grant == "login") {
    out.file = login_in(memory, name);
    out.issuer = x.auth.issuer;
    out.bound_only = dpop_of(x.auth.dpop) == oauth::dpop_use::always;
    return out;
  }
  const auto from =
      std::make_shared<oauth::unattended>(unattended_of(name, config, headers));
  out.ask = [from](const std::stop_token& stop, bool anew) {
    return from->ask(stop, anew);
  };
  return out;
}

expected<oauth::sign_in_options> mcp_way_in(const config::config& config,
                                            const std::string& name) {
  const auto& x = config.mcp.at(name);
  const auto refuse = [&](const std::string& why) {
    return unexpected{
        error{errc::invalid_request, "mcp", "the server " + name + why}};
  };
  if (x.url.empty())
    return refuse(
        " is a program: it gets what it needs by env, not by a login");
  if (const auto given = given_token(x); !given.empty())
    return refuse(" gets " + given + ": take that out of mcp." + name +
                  " to log in");
  if (x.auth.grant != "login")
    return refuse(" gets its tokens without a person (" + x.auth.grant +
                  "): there is nothing to log in to, 'riffle mcp list' shows "
                  "whether it works");
  if (mcp_memory(config).empty())
    return refuse(": there is no data folder to keep a login in");
  auto headers = mcp_headers(name, x);
  if (!headers) return unexpected{std::move(headers.error())};
  oauth::sign_in_options out;
  out.server = x.url;
  out.headers = *std::move(headers);
  out.allowed = oauth::with_host_of(x.auth.issuer, allowed_by(config));
  out.issuer = x.auth.issuer;
  out.scope = x.auth.scope;
  out.dpop = dpop_of(x.auth.dpop);
  return out;
}

std::filesystem::path mcp_login_file(const config::config& config,
                                     const std::string& name) {
  return login_in(mcp_memory(config), name);
}

std::string mcp_token_way(const config::config& config,
                          const std::string& name) {
  const auto& x = config.mcp.at(name);
  if (x.url.empty()) return {};
  if (!given_token(x).empty()) return "token";
  if (x.auth.grant != "login") return x.auth.grant;
  const auto file = mcp_login_file(config, name);
  if (file.empty()) return {};
  const auto login = oauth::read_login(file, x.url);
  const bool bound = dpop_of(x.auth.dpop) == oauth::dpop_use::always;
  return login && oauth::misfit(*login, x.auth.issuer, bound).empty() ? "login"
                                                                      : "";
}

}  // namespace riffle
