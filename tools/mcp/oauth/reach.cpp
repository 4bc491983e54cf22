// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/reach.hpp"

#include <algorithm>

#include "messages/duration_text.hpp"
#include "messages/json_strict.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/builtin/web/url.hpp"
#include "tools/builtin/web/web_get.hpp"

namespace riffle::mcp::oauth {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t largest_answer = 256u << 10;
constexpr unsigned most_redirects = 3;

std::vector<endpoint> open_to(std::string_view server,
                              std::vector<endpoint> allowed) {
  if (is_loopback(server))
    for (const auto* x : {"127.0.0.0/8", "::1", "localhost"})
      if (auto one = parse_endpoint(x)) allowed.push_back(*std::move(one));
  return with_host_of(server, std::move(allowed));
}

}  // namespace

std::vector<endpoint> with_host_of(std::string_view text,
                                   std::vector<endpoint> allowed) {
  const auto url = tools::parse_url(text);
  if (!url) return allowed;
  endpoint own{.host = url->host, .network = {}, .port = url->port};
  if (const auto address = parse_ip(url->host)) {
    own.host.clear();
    own.network = ip_network{*address, 128};
  }
  allowed.push_back(std::move(own));
  return allowed;
}

bool is_loopback(std::string_view url) {
  const auto parsed = tools::parse_url(url);
  if (!parsed) return false;
  if (const auto address = parse_ip(parsed->host))
    return tools::special_range(*address) == "loopback";
  return parsed->host == "localhost";
}

std::string form_of(const fields& all) {
  std::string out;
  for (const auto& [name, value] : all)
    out.append(out.empty() ? "" : "&")
        .append(percent_encoded(name))
        .append("=")
        .append(percent_encoded(value));
  return out;
}

reach::reach(std::string_view server, std::vector<endpoint> allowed,
             duration limit)
    : policy_{open_to(server, std::move(allowed))},
      loopback_{is_loopback(server)},
      limit_{limit} {}

reach reach::within(duration total) const {
  auto out = *this;
  out.until_ = steady_clock::now() + total;
  out.total_ = total;
  return out;
}

expected<duration> reach::time_left(const std::string& url) const {
  if (!until_) return limit_;
  const auto left =
      std::chrono::duration_cast<duration>(*until_ - steady_clock::now());
  if (left <= duration{}) return too_late(url);
  return std::min(limit_, left);
}

unexpected reach::too_late(const std::string& url) const {
  return unexpected{
      error{.code = errc::timeout,
            .op = "mcp.login",
            .message = "there is no token after " + duration_text(total_) +
                       ", the limit of all steps together; the last one was " +
                       with_dots(redact(url), 200)}};
}

std::optional<std::string> reach::refusal(std::string_view url) const {
  const auto checked = policy_.check(url);
  if (!checked) return checked.error().message;
  if (checked->text.starts_with("https://")) return std::nullopt;
  if (loopback_ && is_loopback(checked->text)) return std::nullopt;
  return "it is not https";
}

expected<reach_answer> reach::get(const std::string& url,
                                  const std::stop_token& stop) const {
  return ask(url, std::nullopt, {"Accept: application/json"}, stop);
}

expected<reach_answer> reach::post(const std::string& url,
                                   const body_maker& body,
                                   std::vector<std::string> headers,
                                   const std::stop_token& stop,
                                   const signing_key* key) const {
  headers.emplace_back("Accept: application/json");
  for (bool again = false;; again = true) {
    auto text = body();
    if (!text) return unexpected{std::move(text.error())};
    if (key == nullptr)
      return ask(url, *std::move(text), std::move(headers), stop);
    auto all = headers;
    all.push_back("DPoP: " + dpop_proof(*key, "POST", url, {}, nonces()));
    auto answer = ask(url, *std::move(text), std::move(all), stop);
    if (!answer) return answer;
    const bool noted = nonces().note(url, answer->dpop_nonce);
    const bool other = answer->body.is_object() &&
                       answer->body.contains("error") &&
                       answer->body.at("error") == "use_dpop_nonce";
    if (again || !other || !noted) return answer;
  }
}

expected<reach_answer> reach::ask(const std::string& url,
                                  std::optional<std::string> body,
                                  std::vector<std::string> headers,
                                  const std::stop_token& stop) const {
  if (auto why = refusal(url))
    return unexpected{error{.code = errc::invalid_request,
                            .op = "mcp.login",
                            .message = url + " is not asked: " + *why}};
  tools::web_request x;
  x.url = url;
  x.limits.bytes = largest_answer;
  x.limits.redirects = body ? 0 : most_redirects;
  const auto left = time_left(url);
  if (!left) return unexpected{left.error()};
  x.limits.total = *left;
  x.stop = stop;
  x.body = std::move(body);
  x.headers = std::move(headers);
  x.kept_header = "dpop-nonce";
  x.refusal = [this](const std::string& next) { return refusal(next); };
  auto answer = tools::web_get(x, policy_);
  const bool last = *left < limit_;  // of all steps: it had what they left
  if (!answer && last && answer.error().code == errc::timeout)
    return too_late(url);
  if (!answer) return unexpected{std::move(answer.error())};
  reach_answer out{answer->status, nullptr, std::move(answer->header)};
  if (!answer->cut)
    if (auto read = parse_strict(answer->body)) out.body = *std::move(read);
  return out;
}

}  // namespace riffle::mcp::oauth
