// SPDX-License-Identifier: MIT
#include "runtime/config/mcp_auth_checks.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/json_text.hpp"

namespace riffle::config {

namespace {

using reporter = std::function<void(const std::string&, const std::string&)>;

bool has_own_token(const mcp_config& x) {
  const auto headers = texts_of(x.headers.text);
  return !x.token_env.empty() ||
         std::ranges::any_of(headers, [](const auto& one) {
           return lower(one.first) == "authorization";
         });
}

/// What the key of a program is for.
void check_private_key(const mcp_config& x, bool login,
                       const reporter& report) {
  const auto& a = x.auth;
  const bool file = !a.private_key_file.empty();
  const bool variable = !a.private_key_env.empty();
  const auto* key = file ? "private_key_file" : "private_key_env";
  if (!file && !variable) {
    if (!a.key_id.empty())
      report("key_id", "is the name of a private key, give that, too");
    return;
  }
  if (file && variable)
    report("private_key_env", "give either a file or a variable");
  if (login)
    report(key, "is of a program without a person: a login shows none");
  if (!x.client_secret_env.empty())
    report(key, "give either a key or client_secret_env");
  if (x.client_id.empty())
    report(key, "is the key of a client_id: give that, too");
}

void check_client(const mcp_config& x, const reporter& report) {
  const auto& a = x.auth;
  if (x.client_id.empty())
    report("grant", "\"" + a.grant +
                        "\" wants the client_id that this program has at "
                        "the authorization server");
  if (a.grant == "client_credentials" && x.client_secret_env.empty() &&
      a.private_key_file.empty() && a.private_key_env.empty())
    report("grant",
           "\"client_credentials\" wants something that shows who asks: "
           "client_secret_env, auth.private_key_file or "
           "auth.private_key_env");
}

/// What says how a token is had, where one is given.
void check_unused(const mcp_config& x, const reporter& report) {
  if (!has_own_token(x)) return;
  const auto& a = x.auth;
  const std::pair<const char*, bool> all[] = {{"issuer", !a.issuer.empty()},
                                              {"scope", !a.scope.empty()},
                                              {"dpop", a.dpop != "auto"}};
  for (const auto& [key, is_set] : all)
    if (is_set)
      report(key,
             "does nothing: the server has a token already (token_env, or a "
             "header Authorization); take out one of them");
}

void check_identity(const mcp_auth_config& a, bool wanted,
                    const reporter& report) {
  const bool file = !a.token_file.empty();
  const bool variable = !a.token_env.empty();
  if (file && variable) report("token_env", "give either a file or a variable");
  if (wanted && !file && !variable)
    report("grant", "\"" + a.grant +
                        "\" wants a token to begin with: auth.token_file or "
                        "auth.token_env");
  if (!wanted && (file || variable))
    report(file ? "token_file" : "token_env",
           "is what \"workload_identity\" or \"enterprise\" begins with; a "
           "token for the server itself is named in token_env of the table "
           "above");
}

void check_idp(const mcp_auth_config& a, const reporter& report) {
  const bool wanted = a.grant == "enterprise";
  if (wanted && a.idp.empty())
    report("idp",
           "is missing: the issuer of the ID token, such as "
           "\"https://login.example.com\"");
  const std::pair<const char*, const std::string*> all[] = {
      {"idp", &a.idp},
      {"idp_client_id", &a.idp_client_id},
      {"idp_client_secret_env", &a.idp_client_secret_env}};
  for (const auto& [key, value] : all)
    if (!wanted && !value->empty())
      report(key, "is of the grant \"enterprise\" alone");
  if (!a.idp_client_secret_env.empty() && a.idp_client_id.empty())
    report("idp_client_secret_env",
           "is the secret of an idp_client_id, give that, too");
}

}  // namespace

void check_mcp_auth(
    const mcp_config& x,
    const std::function<void(const std::string& key,
                             const std::string& message)>& report) {
  if (x.url.empty()) return;
  const auto& a = x.auth;
  const bool login = a.grant == "login";
  if (!login && has_own_token(x))
    report("grant",
           "the server has a token already (token_env, or a header "
           "Authorization): take out one of them");
  if (!login && a.grant != "workload_identity") check_client(x, report);
  if (login) check_unused(x, report);
  check_private_key(x, login, report);
  check_identity(a, !login && a.grant != "client_credentials", report);
  check_idp(a, report);
}

}  // namespace riffle::config
