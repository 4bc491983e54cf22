// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/login.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "messages/json_strict.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/oauth/metadata.hpp"
#include "tools/mcp/private_file.hpp"

namespace riffle::mcp::oauth {

namespace {

using nlohmann::json;

template <class Visit>
void for_each_text(login& x, Visit visit) {
  visit("server", x.server);
  visit("resource", x.resource);
  visit("issuer", x.issuer);
  visit("token_endpoint", x.token_endpoint);
  visit("revocation_endpoint", x.revocation_endpoint);
  visit("client_id", x.as.id);
  visit("client_secret", x.as.secret);
  visit("client_auth", x.as.auth);
  visit("access_token", x.access_token);
  visit("refresh_token", x.refresh_token);
  visit("scope", x.scope);
  visit("dpop_key", x.dpop_key);
}

void hide(const login& x) {
  add_secret(x.access_token);
  add_secret(x.refresh_token);
  add_secret(x.as.secret);
  add_secret(x.dpop_key);
}

}  // namespace

std::optional<login> read_login(const std::filesystem::path& file,
                                std::string_view server) {
  const auto text = read_within(file);
  if (!text) return std::nullopt;
  const auto x = parse_strict(*text);
  if (!x || !x->is_object()) return std::nullopt;
  login out;
  for_each_text(out, [&](const char* key, std::string& value) {
    const auto found = x->find(key);
    if (found != x->end() && found->is_string())
      value = found->get<std::string>();
  });
  hide(out);
  const auto time_at = [&](const char* key) -> std::optional<std::int64_t> {
    const auto found = x->find(key);
    if (found == x->end() || !found->is_number_integer()) return {};
    return found->get<std::int64_t>();
  };
  out.expires_at = time_at("expires_at");
  out.issued_at = time_at("issued_at").value_or(0);
  const auto bound = x->find("bound_only");
  out.bound_only = bound != x->end() && *bound == true;
  if (out.server != server || out.access_token.empty()) return std::nullopt;
  // Without its key it must not be used as if it were anybody's.
  const bool wants_key = out.bound_only || !out.dpop_key.empty();
  if (wants_key && !dpop_key_of(out)) return std::nullopt;
  return out;
}

expected<void> write_login(const std::filesystem::path& file, const login& x) {
  hide(x);
  make_private_folder(file.parent_path());
  auto out = json::object();
  auto copy = x;
  for_each_text(copy, [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  });
  out["issued_at"] = x.issued_at;
  if (x.expires_at) out["expires_at"] = *x.expires_at;
  if (x.bound_only) out["bound_only"] = true;
  return write_private_file(
      file, out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string misfit(const login& x, const std::string& issuer, bool bound_only) {
  if (!issuer.empty() && !is_same_issuer(x.issuer, issuer))
    return "your login is of " + with_dots(x.issuer, 200) +
           ", and auth.issuer names another";
  if (bound_only && x.dpop_key.empty())
    return "your login is bound to no key, which auth.dpop = \"always\" wants";
  return {};
}

std::optional<signing_key> dpop_key_of(const login& x) {
  if (x.dpop_key.empty()) return std::nullopt;
  auto key = signing_key::from_text(x.dpop_key);
  if (!key || key->algorithms().front() != "ES256") return std::nullopt;
  return *std::move(key);
}

bool ends_soon(const login& x, wall_time now) {
  if (!x.expires_at) return false;
  constexpr std::int64_t us_of_second = 1'000'000;
  constexpr std::int64_t most = 60;
  constexpr std::int64_t share = 10;
  const auto life = *x.expires_at - x.issued_at;
  const auto margin = std::clamp<std::int64_t>(life / share, 0, most);
  return now.us / us_of_second + margin >= *x.expires_at;
}

}  // namespace riffle::mcp::oauth
