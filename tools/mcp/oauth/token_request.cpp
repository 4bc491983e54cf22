// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/token_request.hpp"

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::size_t longest_token = 64u << 10;
constexpr std::int64_t longest_life = 10LL * 366 * 24 * 3600;
constexpr std::int64_t us_of_second = 1'000'000;
constexpr int ok = 200;

unexpected no_token(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "mcp.login", .message = redact(std::move(message))}};
}

/// Whether a token is bound to the key that was shown. Fails: it is of another
/// kind than was asked for.
expected<bool> is_bound(const login& x, const std::string& type) {
  const auto kind = lower(type);
  if (kind == "dpop" && !x.dpop_key.empty()) return true;
  if (kind == "dpop")
    return no_token(errc::invalid_request,
                    "the authorization server binds the token to a key (DPoP), "
                    "and none was shown to it: nothing could use that token");
  if (kind != "bearer")
    return no_token(
        errc::invalid_request,
        "the token is none for a bearer, but: " + with_dots(redact(type), 100));
  if (x.bound_only)
    return no_token(errc::invalid_request,
                    "the authorization server gives a token for any bearer, "
                    "where one that is bound to a key (DPoP) is wanted");
  return false;
}

}  // namespace

std::string text_in(const nlohmann::json& x, const char* key) {
  if (!x.is_object()) return {};
  const auto found = x.find(key);
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

std::string words_of(const reach_answer& x) {
  auto out = "HTTP " + std::to_string(x.status);
  if (const auto code = text_in(x.body, "error"); !code.empty())
    out += ", " + with_dots(redact(code), 100);
  if (const auto more = text_in(x.body, "error_description"); !more.empty())
    out += ": " + with_dots(redact(more), 300);
  return out;
}

bool is_token(const std::string& x) {
  return !x.empty() && x.size() <= longest_token &&
         std::ranges::all_of(x, [](char c) { return c > ' ' && c < 0x7f; });
}

expected<reach_answer> send_form(const client& who, const std::string& url,
                                 const form_maker& form, const reach& to,
                                 const signing_key* key,
                                 const std::stop_token& stop) {
  std::vector<std::string> headers{
      "Content-Type: application/x-www-form-urlencoded"};
  if (who.auth == "client_secret_basic") {
    const auto pair =
        percent_encoded(who.id) + ":" + percent_encoded(who.secret);
    add_secret(to_base64(pair));
    headers.push_back("Authorization: Basic " + to_base64(pair));
  }
  const auto body = [&]() -> expected<std::string> {
    auto all = form();
    if (!all) return unexpected{std::move(all.error())};
    if (who.auth != "client_secret_basic" && !who.id.empty())
      all->emplace_back("client_id", who.id);
    if (who.auth == "client_secret_post")
      all->emplace_back("client_secret", who.secret);
    return form_of(*all);
  };
  return to.post(url, body, std::move(headers), stop, key);
}

expected<reach_answer> send_form(const login& x, const std::string& url,
                                 const fields& all, const reach& to,
                                 const std::stop_token& stop) {
  const auto key = dpop_key_of(x);
  return send_form(
      x.as, url, [&] { return expected<fields>{all}; }, to,
      key ? &*key : nullptr, stop);
}

expected<void> take_tokens(login& x, const reach_answer& answer) {
  if (answer.status != ok)
    return no_token(
        errc::approval_denied,
        "the authorization server gives no token: " + words_of(answer));
  const auto token = text_in(answer.body, "access_token");
  add_secret(token);
  if (!is_token(token))
    return no_token(errc::invalid_request,
                    "the authorization server's answer holds no token");
  const auto bound = is_bound(x, text_in(answer.body, "token_type"));
  if (!bound) return unexpected{bound.error()};
  if (!*bound) x.dpop_key.clear();
  // Once it is, a token that is not is somebody else's doing.
  x.bound_only = *bound;
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

}  // namespace riffle::mcp::oauth
