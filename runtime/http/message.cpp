// SPDX-License-Identifier: MIT
#include "runtime/http/message.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/secrets.hpp"

namespace riffle::http {

namespace {

/// "not_found" has the status 404, …
unsigned status_of(errc code) {
  switch (code) {
    case errc::invalid_request:
    case errc::invalid_arguments:
    case errc::agent_not_streaming:
    case errc::invalid_plan: return 400;
    case errc::not_found:
    case errc::tool_not_found: return 404;
    case errc::session_busy: return 409;
    case errc::cancelled:
    case errc::invalid_config:
    case errc::storage_unavailable:
    case errc::tool_unavailable: return 503;
    case errc::timeout: return 504;
    default: return 500;
  }
}

std::string_view title_of(unsigned status) {
  switch (status) {
    case 400: return "Bad request";
    case 401: return "Token required";
    case 403: return "Forbidden";
    case 404: return "Not found";
    case 405: return "Method not allowed";
    case 406: return "Not acceptable";
    case 408: return "Request timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Too large";
    case 415: return "Unsupported media type";
    case 416: return "Range not satisfiable";
    case 417: return "Expectation failed";
    case 421: return "Misdirected request";
    case 422: return "Unprocessable";
    case 429: return "Too many requests";
    case 431: return "Header too large";
    case 501: return "Not implemented";
    case 503: return "Unavailable";
    case 504: return "Time over";
    default: return "Internal error";
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool read_query(std::string_view text, request& to) {
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto one = text.substr(0, end);
    const auto equals = one.find('=');
    auto name = percent_decoded(one.substr(0, equals), true);
    auto value = equals == std::string_view::npos
                     ? std::optional<std::string>{""}
                     : percent_decoded(one.substr(equals + 1), true);
    if (!name || !value) return false;
    if (!name->empty()) to.query[*name] = std::move(*value);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view request::header(std::string_view name) const noexcept {
  for (const auto& x : fields)
    if (x.name == name) return x.value;
  return {};
}

bool request::has_header(std::string_view name) const noexcept {
  return std::ranges::any_of(fields,
                             [&](const field& x) { return x.name == name; });
}

reply json_reply(unsigned status, const json& x) {
  reply out;
  out.status = status;
  out.body = x.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return out;
}

reply problem(unsigned status, std::string_view code, std::string detail) {
  auto out = json_reply(status, {{"type", "about:blank"},
                                 {"title", title_of(status)},
                                 {"status", status},
                                 {"code", code},
                                 {"detail", redact(std::move(detail))}});
  out.type = "application/problem+json";
  return out;
}

reply problem(const error& x) {
  const auto status = status_of(x.code);
  auto out = problem(status, to_string(x.code), x.message);
  if (status == 503 && x.code != errc::invalid_config)
    out.with("Retry-After", "1");
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text,
                                           bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return {};
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return {};
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

namespace {

/// "http://name:80/path" is "/path" of Host "name:80".
std::string_view without_authority(std::string_view target, request& to) {
  const auto scheme = target.find("://");
  const auto kind = lower(target.substr(0, std::min<std::size_t>(scheme, 6)));
  if (kind != "http" && kind != "https") return target;
  target.remove_prefix(scheme + 3);
  const auto end = target.find_first_of("/?#");
  const std::string host{target.substr(0, end)};
  if (host.empty()) return {};
  std::erase_if(to.fields, [](const field& x) { return x.name == "host"; });
  to.fields.push_back({"host", host});
  if (end == std::string_view::npos || target[end] != '/') return "/";
  return target.substr(end);
}

}  // namespace

bool read_target(std::string_view target, request& to) {
  target = without_authority(target, to);
  if (target.empty() || target.front() != '/') return false;
  target = target.substr(0, target.find('#'));
  const auto mark = target.find('?');
  to.path = target.substr(0, mark);
  return mark == std::string_view::npos ||
         read_query(target.substr(mark + 1), to);
}

}  // namespace riffle::http
