// SPDX-License-Identifier: MIT
// Errors inside an answer of status 200, in every shape that was seen. No
// official document says how they look.
#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/error_words.hpp"
#include "runtime/model/openai_chunk.hpp"

namespace riffle::model::openai {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t max_message = 2048;

// What an error object says, before it is judged.
struct report {
  int status = 0;
  std::string words;  ///< codes and types, lower case
  std::string message;
  std::string subject;  ///< " (parameter, code)"
};

void read_status(const json& x, report& r) {
  int status = 0;
  if (x.is_number_integer()) {
    const auto value = x.get<std::int64_t>();
    if (value > 0 && value < 1000) status = static_cast<int>(value);
  } else if (x.is_string()) {
    const auto& text = x.get_ref<const std::string&>();
    const auto* last = text.data() + text.size();
    const auto [p, failure] = std::from_chars(text.data(), last, status);
    if (failure != std::errc{} || p != last) {
      status = 0;
      r.words += lower(text) + ' ';
    }
  }
  if (status >= 100) r.status = status;
}

void read_message(const json& x, report& r) {
  if (x.is_string())
    r.message = x.get<std::string>();
  else if (!x.is_null())
    r.message = x.dump(-1, ' ', false, json::error_handler_t::replace);
}

report read_report(const json& x) {
  report r;
  if (!x.is_object()) {
    read_message(x, r);
    r.words = lower(r.message);
    return r;
  }
  for (const char* key : {"type", "code", "status", "status_code"}) {
    if (x.contains(key)) read_status(x[key], r);
  }
  for (const char* key : {"detail", "message"}) {
    if (x.contains(key) && !x[key].is_null()) read_message(x[key], r);
  }
  const auto more = words_behind(x, r.message);
  r.message += more;
  r.subject = subject_of(x, r.message);
  if (r.message.empty()) read_message(x, r);
  if (!r.words.empty() || r.status != 0) r.words += lower(more);
  if (r.words.empty() && r.status == 0) r.words = lower(r.message);
  return r;
}

template <std::size_t N>
bool has_any(const std::string& text,
             const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string::npos;
  });
}

constexpr std::array<std::string_view, 6> rate_words{
    "rate_limit",        "rate limit",        "ratelimit",
    "too_many_requests", "too many requests", "resource_exhausted"};
constexpr std::array<std::string_view, 3> quota_words{
    "insufficient_quota", "billing", "payment_required"};
constexpr std::array<std::string_view, 9> final_words{
    "invalid_request", "authentication",  "permission",
    "not_found",       "invalid_api_key", "unauthorized",
    "content_policy",  "content_filter",  "context_length"};

// Numbers decide before words, and what nobody knows may be tried again.
// `tool_use_failed`: the model sampled a call that the server refused; another
// sample may be good, whatever the number.
error judge(report r) {
  error e{errc::model_error, "model", {}, true, {}};
  const bool quota = has_any(r.words, quota_words);
  if (r.status == 429 || quota || has_any(r.words, rate_words)) {
    e.code = errc::model_rate_limited;
    e.retryable = !quota;
  } else if (r.words.find("tool_use_failed") != std::string::npos) {
    e.retryable = true;
  } else if (r.status != 0) {
    e.retryable = r.status >= 500 || r.status == 408 || r.status == 409;
  } else {
    e.retryable = !has_any(r.words, final_words);
  }
  r.message.resize(cut_utf8(r.message, max_message).size());
  e.message = r.message.empty() ? "the model server reported an error"
                                : std::move(r.message);
  if (r.status != 0) e.cause = "status " + std::to_string(r.status);
  if (!r.subject.empty()) e.cause += r.subject.substr(e.cause.empty() ? 1 : 0);
  return e;
}

bool is_truthy(const json& x) {
  if (x.is_boolean()) return x.get<bool>();
  if (x.is_number()) return x != 0;
  if (x.is_string()) return !x.get_ref<const std::string&>().empty();
  return !x.empty();
}

bool is_text(const json& x, const char* key, std::string_view text) {
  return x.contains(key) && x[key].is_string() &&
         x[key].get_ref<const std::string&>() == text;
}

std::optional<error> choice_error(const json& choice) {
  if (!choice.is_object()) return std::nullopt;
  if (choice.contains("error") && is_truthy(choice["error"]))
    return judge(read_report(choice["error"]));
  if (!is_text(choice, "finish_reason", "error")) return std::nullopt;
  report r;
  r.message = "the model server ended the turn with the finish reason error";
  return judge(std::move(r));
}

}  // namespace

std::optional<error> find_error(const json& event) {
  if (event.is_array() && !event.empty() && event[0].is_object())
    return find_error(event[0]);
  if (!event.is_object()) return std::nullopt;
  if (event.contains("error") && is_truthy(event["error"]))
    return judge(read_report(event["error"]));
  if (is_text(event, "object", "error") || is_text(event, "type", "error"))
    return judge(read_report(event));
  if (event.contains("choices") && event["choices"].is_array()) {
    for (const auto& choice : event["choices"]) {
      if (auto found = choice_error(choice)) return found;
    }
  }
  return std::nullopt;
}

error any_error(const json& event) {
  if (auto found = find_error(event)) return *std::move(found);
  return judge(read_report(event));
}

error any_error(std::string_view text) {
  if (const auto parsed = parse_json(text)) return any_error(*parsed);
  report r;
  // Through JSON, so that the message is UTF-8.
  const auto quoted = json(std::string{text.substr(0, max_message)})
                          .dump(-1, ' ', false, json::error_handler_t::replace);
  r.message = json::parse(quoted).get<std::string>();
  r.words = lower(r.message);
  return judge(std::move(r));
}

}  // namespace riffle::model::openai
