// SPDX-License-Identifier: MIT
#include "tests/support/oauth_world.hpp"

#include <algorithm>
#include <charconv>
#include <sys/random.h>

#include <curl/curl.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/media.hpp"
#include "tests/support/jwt_reader.hpp"

namespace riffle::testing {

using nlohmann::json;

namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string path_of(const http_request& x) {
  return x.target.substr(0, x.target.find('?'));
}

http_reply refuse(const std::string& code) {
  return http_reply::json(json{{"error", code}}.dump(), 400);
}

/// RFC 7636, 4.2.
std::string pkce_of(const std::string& verifier) {
  const auto hex = sha256(verifier);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  auto out = to_base64(bytes);
  for (auto& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out.substr(0, out.find('='));
}

std::size_t keep(char* data, std::size_t, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(data, size);
  return size;
}

json with(json x, const json& more) {
  for (const auto& [key, value] : more.items())
    if (value.is_null())
      x.erase(key);
    else
      x[key] = value;
  return x;
}

}  // namespace

std::map<std::string, std::string> read_form(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find('&'));
    const auto sign = std::min(pair.find('='), pair.size());
    out[decoded(pair.substr(0, sign))] =
        decoded(pair.substr(std::min(sign + 1, pair.size())));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return out;
}

oauth_world::oauth_world(oauth_rules rules) : rules_{std::move(rules)} {
  giver_.emplace([this](const http_request& x) { return give(x); });
  server_.emplace([this](const http_request& x) { return serve(x); });
}

std::string oauth_world::issuer() const {
  const std::lock_guard lock{mutex_};
  return giver_->url(rules_.tenant);
}

void oauth_world::change(const std::function<void(oauth_rules&)>& f) {
  const std::lock_guard lock{mutex_};
  f(rules_);
}

std::string oauth_world::agree(const std::string& url) {
  std::string out;
  auto* x = curl_easy_init();
  curl_easy_setopt(x, CURLOPT_URL, url.c_str());
  curl_easy_setopt(x, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(x, CURLOPT_PROXY, "");
  curl_easy_setopt(x, CURLOPT_TIMEOUT, 20L);
  curl_easy_setopt(x, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(x, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(x, CURLOPT_WRITEDATA, &out);
  curl_easy_perform(x);
  curl_easy_cleanup(x);
  return out;
}

void oauth_world::forget_tokens() {
  const std::lock_guard lock{mutex_};
  tokens_.clear();
}

void oauth_world::forget_logins() {
  const std::lock_guard lock{mutex_};
  tokens_.clear();
  refreshes_.clear();
}

std::vector<std::map<std::string, std::string>> oauth_world::forms(
    const std::string& path) const {
  std::vector<form> out;
  for (const auto& x : giver_->requests())
    if (path_of(x) == path) out.push_back(read_form(x.body));
  return out;
}

int oauth_world::reused() const {
  const std::lock_guard lock{mutex_};
  return reused_;
}

std::vector<std::string> oauth_world::secrets() const {
  const std::lock_guard lock{mutex_};
  return secrets_;
}

std::string oauth_world::fresh(const std::string& what) {
  std::string bytes(12, '\0');
  static_cast<void>(::getrandom(bytes.data(), bytes.size(), 0));
  auto out =
      "canary-" + what + "-" + std::to_string(++count_) + "-" + hex_text(bytes);
  secrets_.push_back(out);
  return out;
}

// -- the server ---------------------------------------------------------------

http_reply oauth_world::serve(const http_request& x) {
  const std::lock_guard lock{mutex_};
  const std::string known = "/.well-known/oauth-protected-resource";
  const auto document = known + (rules_.at_root ? "" : "/mcp");
  if (path_of(x) == document && rules_.has_metadata)
    return http_reply::json(
        with({{"resource", server_->url("/mcp")},
              {"authorization_servers", {giver_->url(rules_.tenant)}},
              {"scopes_supported", {"read", "write"}}},
             rules_.resource_lie)
            .dump());
  if (path_of(x) != "/mcp") return http_reply::text("", 404);
  const std::string header{x.header("authorization")};
  const auto token = tokens_.find(token_of(x));
  if (rules_.modern && x.body.find("\"initialize\"") != std::string::npos)
    return http_reply::text("what is that?", 400);
  if (token != tokens_.end() && !bound_[token->first].empty() &&
      !rules_.server_nonce.empty() &&
      (rules_.displeased ||
       read_unsigned_jwt(std::string{x.header("dpop")})
               ->claims.value("nonce", "") != rules_.server_nonce))
    return http_reply::text("", 401)
        .header("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"")
        .header("DPoP-Nonce", rules_.server_nonce);
  if (token == tokens_.end() && !rules_.lets_in) {
    auto words = "Basic realm=\"a, b\", Bearer scope=\"" + rules_.scope + "\"";
    if (rules_.names_metadata)
      words += ", resource_metadata=\"" + server_->url(document) + "\"";
    return http_reply::json(
               R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,)"
               R"("message":"no ")" +
                   header + "\"}}",
               401)
        .header("WWW-Authenticate", words);
  }
  if (x.method != "POST") return http_reply::text("", 405);
  return call(json::parse(x.body), token == tokens_.end() ? "" : token->second);
}

http_reply oauth_world::call(const json& asked, const std::string& scope) {
  const auto method = asked.value("method", "");
  if (!asked.contains("id")) return http_reply::text("", 202);
  if (method == "server/discover") return http_reply::text("no", 400);
  json result = json::object();
  if (method == "initialize")
    result = {{"protocolVersion", "2025-11-25"},
              {"capabilities", {{"tools", json::object()}}},
              {"serverInfo", {{"name", "web"}}}};
  const json form = {{"type", "object"}};
  if (method == "tools/list")
    result = {{"tools",
               {{{"name", "read"}, {"inputSchema", form}},
                {{"name", "write"}, {"inputSchema", form}}}}};
  if (method == "tools/call") {
    const auto name = asked["params"].value("name", "");
    if (scope.find(name) == scope.npos)
      return http_reply::text("", 403).header(
          "WWW-Authenticate",
          "Bearer error=\"insufficient_scope\", scope=\"" + name + "\"");
    result = {{"content", {{{"type", "text"}, {"text", "did " + name}}}}};
  }
  return http_reply::json(
      json{{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", result}}.dump());
}

// -- the authorization server -------------------------------------------------

http_reply oauth_world::give(const http_request& x) {
  const std::lock_guard lock{mutex_};
  const auto path = path_of(x);
  const auto document = rules_.document_last ? rules_.tenant + rules_.document
                                             : rules_.document + rules_.tenant;
  if (path == document) return describe(giver_->url(rules_.tenant));
  if (path == "/register") return enroll(x);
  if (path == "/authorize")
    return authorize(read_form(x.target.substr(path.size() + 1)));
  if (path == "/token") return exchange(x);
  if (path == "/revoke") return http_reply::json("{}");
  return http_reply::text("", 404);
}

http_reply oauth_world::describe(const std::string& base) const {
  const auto proofs =
      rules_.binds ? json{{"dpop_signing_alg_values_supported", {"ES256"}}}
                   : json::object();
  return http_reply::json(
      with(
          with({{"issuer", base},
                {"authorization_endpoint", giver_->url("/authorize")},
                {"token_endpoint", giver_->url("/token")},
                {"registration_endpoint", giver_->url("/register")},
                {"revocation_endpoint", giver_->url("/revoke")},
                {"response_types_supported", {"code"}},
                {"token_endpoint_auth_methods_supported", {rules_.client_auth}},
                {"code_challenge_methods_supported", {"S256"}}},
               proofs),
          rules_.server_lie)
          .dump());
}

http_reply oauth_world::enroll(const http_request& x) {
  const auto asked = json::parse(x.body);
  const auto id = "client-" + std::to_string(++count_);
  clients_[id] = asked.at("redirect_uris").at(0);
  json out = asked;
  out["client_id"] = id;
  if (rules_.client_auth != "none")
    out["client_secret"] = client_secrets_[id] = fresh("secret");
  return http_reply::json(out.dump(), 201);
}

http_reply oauth_world::authorize(const form& x) {
  const auto at = [&](const char* key) {
    const auto found = x.find(key);
    return found == x.end() ? std::string{} : found->second;
  };
  const auto known = clients_.find(at("client_id"));
  const auto back = at("redirect_uri");
  if (at("client_id") != "by-hand" &&
      (known == clients_.end() || known->second != back))
    return http_reply::text("an unknown client", 400);
  if (at("response_type") != "code" || at("code_challenge").size() != 43 ||
      at("code_challenge_method") != "S256" ||
      at("resource") != server_->url("/mcp"))
    return http_reply::text("a wrong question", 400);
  auto to = back + "?state=" + at("state");
  if (rules_.refusal.empty()) {
    const auto code = fresh("code");
    codes_[code] = {at("code_challenge"), back, at("resource"), at("scope"),
                    at("client_id")};
    to += "&code=" + code;
  } else {
    to += "&error=" + rules_.refusal;
  }
  return http_reply{302}.header("location", to + rules_.answer_more);
}

bool oauth_world::knows_client(const http_request& x, const form& all) const {
  const auto knows = [&](const std::string& id, const std::string& secret) {
    const auto own = client_secrets_.find(id);
    return secret ==
           (own == client_secrets_.end() ? rules_.client_secret : own->second);
  };
  const std::string header{x.header("authorization")};
  const std::string kind = "Basic ";
  const bool basic = header.starts_with(kind);
  if (rules_.client_auth == "client_secret_basic") {
    // RFC 6749, 2.3.1: each of the two is encoded as in a form.
    const auto pair = from_base64(header.substr(basic ? kind.size() : 0));
    const auto colon = std::min(pair.find(':'), pair.size());
    return basic && colon < pair.size() &&
           knows(decoded(pair.substr(0, colon)),
                 decoded(pair.substr(colon + 1)));
  }
  if (basic) return false;
  if (rules_.client_auth == "client_secret_post")
    return all.contains("client_id") && all.contains("client_secret") &&
           knows(all.at("client_id"), all.at("client_secret"));
  // RFC 7521, 4.1: who brings an assertion need not name himself beside it.
  const bool named = all.contains("client_id") || all.contains("assertion");
  return named && !all.contains("client_secret");
}

http_reply oauth_world::exchange(const http_request& x) {
  if (rules_.on_token) rules_.on_token();
  if (rules_.token_status != 200)
    return http_reply::text("not now", rules_.token_status);
  auto all = read_form(x.body);
  const bool signs = rules_.client_auth == "private_key_jwt";
  if (signs ? !knows_signature(all) : !knows_client(x, all))
    return refuse("invalid_client");
  if (auto refused = refuse_proof(x)) return *std::move(refused);
  return grant_of(std::move(all));
}

http_reply oauth_world::grant_of(form all) {
  if (all["resource"] != server_->url("/mcp")) return refuse("invalid_target");
  if (all["grant_type"] == "refresh_token") {
    const auto& old = all["refresh_token"];
    const auto found = refreshes_.find(old);
    if (used_.contains(old)) ++reused_;
    if (found == refreshes_.end()) return refuse("invalid_grant");
    const auto scope = found->second;
    used_.insert(old);
    refreshes_.erase(found);
    return tokens(scope);
  }
  if (all["grant_type"] == "client_credentials") return tokens(all["scope"]);
  if (all["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
    return all["assertion"] == rules_.assertion ? tokens(all["scope"])
                                                : refuse("invalid_grant");
  const auto found = codes_.find(all["code"]);
  if (found == codes_.end()) return refuse("invalid_grant");
  const auto granted = found->second;
  codes_.erase(found);
  if (pkce_of(all["code_verifier"]) != granted.challenge ||
      all["redirect_uri"] != granted.redirect)
    return refuse("invalid_grant");
  return tokens(granted.scope);
}

http_reply oauth_world::tokens(const std::string& scope) {
  const auto token = fresh("token");
  if (!rules_.forgets) tokens_[token] = scope;
  bound_[token] = key_;
  json out = {{"access_token", token},
              {"token_type", key_.empty() ? rules_.token_type : "DPoP"},
              {"scope", scope}};
  if (rules_.life != 0) out["expires_in"] = rules_.life;
  if (rules_.refreshes) {
    const auto next = fresh("refresh");
    refreshes_[next] = scope;
    out["refresh_token"] = next;
  }
  return http_reply::json(out.dump());
}

}  // namespace riffle::testing
