// SPDX-License-Identifier: MIT
#include "runtime/model/http_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "messages/json_strict.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/error_words.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

constexpr auto op = "model request";
constexpr std::size_t most_words = 2048;
constexpr auto longest_wait = std::chrono::hours{24};

/// One line of valid UTF-8, at most `most_words` bytes.
std::string clean(std::string_view text) {
  std::string line;
  for (char c : text) {
    auto blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  line = redact(std::move(line));  // before a part of a secret is cut off
  line.resize(std::min(line.size(), most_words));
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  // Through JSON and back: replaces what is not UTF-8, also at the cut.
  auto safe = json(line).dump(-1, ' ', false, json::error_handler_t::ignore);
  return json::parse(safe).get<std::string>();
}

std::string without_tags(std::string_view html) {
  std::string out;
  while (!html.empty()) {
    auto open = html.find('<');
    out.append(html.substr(0, open)).append(" ");
    if (open == std::string_view::npos) {
      break;
    }
    html.remove_prefix(open);
    auto name = lower(html.substr(0, 7));
    std::string_view end = ">";
    if (name.starts_with("<style")) {
      end = "</style>";
    } else if (name == "<script") {
      end = "</script>";
    }
    auto close = html.find(end);
    html.remove_prefix(close == std::string_view::npos ? html.size()
                                                       : close + end.size());
  }
  return out;
}

/// "502 Bad Gateway nginx" of a page whose title is its headline, too.
std::string without_echo(std::string text) {
  constexpr std::size_t shortest = 8;
  for (auto at = text.find(' ', shortest); at != text.npos;
       at = text.find(' ', at + 1)) {
    const auto title = std::string_view{text}.substr(0, at + 1);
    if ((text + " ").substr(at + 1).starts_with(title))
      return text.substr(at + 1);
  }
  return text;
}

std::string string_at(const json& object, const char* key) {
  auto i = object.find(key);
  return i != object.end() && i->is_string() ? i->get<std::string>() : "";
}

/// `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}`.
std::optional<server_words> from_json(json body) {
  if (body.is_array() && !body.empty()) {
    body = json{body.front()};
    body = body.is_array() ? json(body.front()) : body;
  }
  if (!body.is_object()) {
    return std::nullopt;
  }
  auto inner = body;
  if (auto i = body.find("error"); i != body.end()) {
    if (i->is_string()) {
      return server_words{clean(i->get<std::string>())};
    }
    inner = i->is_object() ? *i : body;
  }
  std::string message;
  for (const auto* key : {"message", "detail", "title"}) {
    if (message.empty()) {
      message = string_at(inner, key);
    }
  }
  const nlohmann::ordered_json ordered(inner);
  auto more = words_behind(ordered, message);
  more += subject_of(ordered, message + more);
  constexpr auto quota = "insufficient_quota";
  server_words out;
  out.message = clean(message + more);
  out.insufficient_quota = string_at(inner, "code") == quota ||
                           string_at(inner, "type") == quota ||
                           more.find(quota) != std::string::npos;
  return out.message.empty() && !out.insufficient_quota ? std::nullopt
                                                        : std::optional{out};
}

std::string_view hint(int status, std::string_view words) {
  if (words.find("does not support tools") != words.npos)
    return " (without them: agents.NAME.tools = [])";
  if (status == 401 || status == 403) {
    return " (check the API key and its rights)";
  }
  if (status == 404) {
    return " (check base_url and the model's name)";
  }
  if (status >= 300 && status < 400) {
    return " (redirects are not followed: check base_url)";
  }
  return {};
}

// How Ollama says that a model was never fetched: `model 'x' not found`, with
// either kind of quotation marks.
std::string pull_hint(std::string_view message) {
  constexpr std::string_view begin = "model ";
  if (!message.starts_with(begin) || message.size() < begin.size() + 2)
    return {};
  message.remove_prefix(begin.size());
  const char mark = message.front();
  const auto end = message.find(mark, 1);
  if ((mark != '\'' && mark != '"') || end == message.npos ||
      !message.substr(end + 1).starts_with(" not found"))
    return {};
  return " (if this is Ollama: ollama pull " +
         std::string{message.substr(1, end - 1)} + ")";
}

bool is_blocked(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return true;
    default: return false;
  }
}

std::string_view limit_name(time_limit which) {
  switch (which) {
    case time_limit::connect:
      return "no connection within the limit timeouts.connect";
    case time_limit::first_byte:
      return "no answer within the limit timeouts.first_byte";
    case time_limit::idle:
      return "the answer paused for longer than timeouts.idle";
    case time_limit::total: return "the answer took longer than timeouts.total";
  }
  return {};
}

/// A decimal number and nothing else.
std::optional<double> number(std::string_view text) {
  std::string copy{text};
  if (copy.empty() ||
      copy.find_first_not_of("+-.0123456789 ") != std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  auto out = std::strtod(copy.c_str(), &end);
  auto whole = end != copy.c_str() && std::string_view{end}.find_first_not_of(
                                          ' ') == std::string_view::npos;
  return whole && std::isfinite(out) ? std::optional{out} : std::nullopt;
}

duration clamp(double seconds) {
  auto most = std::chrono::duration<double>{longest_wait}.count();
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>{std::clamp(seconds, 0.0, most)});
}

}  // namespace

server_words read_server_words(std::string_view body) {
  if (auto parsed = parse_strict(body)) {
    if (auto words = from_json(*std::move(parsed))) {
      return *std::move(words);
    }
  }
  auto first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && body[first] == '<') {
    return {without_echo(clean(without_tags(body)))};
  }
  return {clean(body)};
}

std::string hide_secrets(std::string text,
                         const std::vector<std::string>& headers) {
  for (const auto& header : headers) {
    auto colon = header.find(':');
    auto name = lower(std::string_view{header}.substr(0, colon));
    if (name != "authorization" && !name.ends_with("key") &&
        !name.ends_with("token")) {
      continue;
    }
    auto start = header.find_last_of(" :") + 1;
    auto secret = std::string_view{header}.substr(start);
    if (secret.size() < 4) {
      continue;
    }
    for (auto at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

error status_error(int status, const server_words& words,
                   std::string_view should_retry) {
  error out;
  out.code = status == 429 ? errc::model_rate_limited : errc::model_error;
  out.op = op;
  out.message = "HTTP " + std::to_string(status);
  if (!words.message.empty()) {
    out.message += ": " + words.message;
  }
  const auto pull = status == 404 ? pull_hint(words.message) : std::string{};
  out.message +=
      pull.empty() ? hint(status, words.message) : std::string_view{pull};
  if (should_retry == "true" || should_retry == "false") {
    out.retryable = should_retry == "true";
  } else {
    out.retryable =
        !words.insufficient_quota &&
        (status == 408 || status == 409 || status == 429 || status >= 500);
  }
  return out;
}

error curl_error(CURLcode code, int status, std::string_view detail) {
  std::string words{detail.empty() ? curl_easy_strerror(code) : detail};
  // "Failed to connect to HOST port PORT after 0 ms: Couldn't connect …"
  if (code == CURLE_COULDNT_CONNECT)
    words.erase(std::min(words.find(" after "), words.size()));
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return {errc::timeout, op, clean(words), true, {}};
  }
  if (code == CURLE_BAD_CONTENT_ENCODING) {
    return {errc::model_error,
            op,
            "the answer cannot be decoded: " + clean(words),
            false,
            {}};
  }
  // How curl says that there was something else than a status line.
  if (code == CURLE_WEIRD_SERVER_REPLY ||
      (code == CURLE_UNSUPPORTED_PROTOCOL &&
       words.find("HTTP/0.9") != std::string::npos)) {
    return {errc::model_error, op, "the server does not answer in HTTP", false,
            clean(words)};
  }
  // Its name for headers, and for encodings in each other, that are too long.
  if (code == CURLE_OUT_OF_MEMORY && status != 0)
    words = "its headers or its encodings are longer than is read";
  if (status != 0) {
    return {errc::stream_interrupted,
            op,
            "the answer was cut: " + clean(words),
            true,
            {}};
  }
  return {errc::model_unreachable,
          op,
          "the model server cannot be reached: " + clean(words),
          !is_blocked(code),
          {}};
}

error packed_error(std::string_view how) {
  return {errc::model_error,
          op,
          "the answer is compressed (" + clean(how) +
              "), which was not asked for: switch that off at the server, or "
              "at the proxy before it",
          false,
          {}};
}

error limit_error(time_limit which, const transport_timeouts& limits) {
  auto seconds = std::chrono::duration<double>{length(limits, which)};
  auto text = std::to_string(seconds.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  // Another try would hold the run for as long again: not after `total`.
  return {errc::timeout,
          op,
          std::string{limit_name(which)} + " (" + text + " s)",
          which != time_limit::total,
          {}};
}

std::optional<duration> read_retry_after(std::string_view milliseconds,
                                         std::string_view seconds_or_date,
                                         wall_time now) {
  if (auto ms = number(milliseconds)) {
    return clamp(*ms / 1000);
  }
  if (auto seconds = number(seconds_or_date)) {
    return clamp(*seconds);
  }
  std::string date{seconds_or_date};
  auto at = date.empty() ? -1 : curl_getdate(date.c_str(), nullptr);
  if (at == -1) {
    return std::nullopt;
  }
  return clamp(static_cast<double>(at) - static_cast<double>(now.us) / 1e6);
}

}  // namespace riffle::model
