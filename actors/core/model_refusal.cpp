// SPDX-License-Identifier: MIT
#include "actors/core/model_refusal.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

using std::string_view;

/// As servers name what we call otherwise.
constexpr std::array<std::pair<string_view, string_view>, 16> wire_names{{
    {"max_output_tokens", "max_tokens"},
    {"max_output_tokens", "max_completion_tokens"},
    {"max_output_tokens", "num_predict"},
    {"stop", "stop_sequences"},
    {"reasoning_effort", "reasoning.effort"},
    {"reasoning_effort", "reasoning"},
    {"reasoning_effort", "effort"},
    {"reasoning_effort", "think"},
    {"reasoning_effort", "output_config"},
    {"thinking_budget", "thinking"},
    {"thinking_budget", "budget_tokens"},
    {"thinking_budget", "think"},
    {"parallel_tool_calls", "disable_parallel_tool_use"},
    {"top_p", "topP"},
    {"response_schema", "response_format"},
    {"response_schema", "json_schema"},
}};

/// Said of a parameter that is not taken, whatever its value.
constexpr std::array<string_view, 19> refusing{
    "unsupported",    "not supported",       "not support",
    "not permitted",  "not allowed",         "not available",
    "unknown",        "unrecognized",        "unrecognised",
    "unexpected",     "extra inputs",        "extra_forbidden",
    "deprecated",     "cannot find field",   "may only be set",
    "cannot both",    "cannot be specified", "only the default",
    "does not accept"};

constexpr std::array<string_view, 24> overflowing{
    "context_length_exceeded", "context length",
    "context window",          "context size",
    "context_window",          "maximum context",
    "prompt is too long",      "prompt too long",
    "prompt length",           "input is too long",
    "input too long",          "input length",
    "input token count",       "too many tokens",
    "too many input tokens",   "maximum number of tokens",
    "max_new_tokens",          "reduce the length",
    "request_too_large",       "request too large",
    "tokens_limit_reached",    "the context overflows",
    "model token limit",       "maximum model length"};

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/// `word` in `text`, and no part of a longer one.
bool names(string_view text, string_view word) {
  for (auto at = text.find(word); at != text.npos;
       at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    if (begins && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

template <std::size_t N>
bool has_any(string_view text, const std::array<string_view, N>& words) {
  return std::ranges::any_of(
      words, [&](string_view x) { return text.find(x) != text.npos; });
}

/// The status stands at the beginning: "HTTP 400: …".
bool has_status(string_view message, string_view status) {
  constexpr string_view begin = "HTTP ";
  return message.starts_with(begin) &&
         message.substr(begin.size()).starts_with(status);
}

bool is_named(string_view text, string_view parameter) {
  if (names(text, parameter)) return true;
  return std::ranges::any_of(wire_names, [&](const auto& x) {
    return x.first == parameter && names(text, x.second);
  });
}

}  // namespace

bool is_context_overflow(const error& x) {
  if (x.code != errc::model_error && x.code != errc::invalid_request)
    return false;
  const auto text = lower(x.message + " " + x.cause);
  const bool of_a_minute = text.find("per minute") != text.npos ||
                           text.find("rate limit") != text.npos;
  return !of_a_minute && has_any(text, overflowing);
}

std::optional<std::string> refused_parameter(
    const error& x, const std::vector<std::string>& sent) {
  const bool of_request =
      has_status(x.message, "400") || has_status(x.message, "422");
  if (x.code != errc::model_error || !of_request) return std::nullopt;
  const auto& text = x.message;
  if (!has_any(lower(text), refusing)) return std::nullopt;
  // The longest name first: "reasoning_effort" also names "effort".
  auto candidates = sent;
  std::ranges::stable_sort(candidates, std::ranges::greater{},
                           [](const std::string& name) { return name.size(); });
  for (const auto& name : candidates)
    if (names(text, name)) return name;
  for (const auto& name : candidates)
    if (is_named(text, name)) return name;
  return std::nullopt;
}

bool is_out_of_service(const error& x) {
  if (x.code == errc::model_unreachable || x.code == errc::model_rate_limited)
    return true;
  if (x.code != errc::model_error) return false;
  for (const auto* status : {"402", "502", "503", "504", "529"})
    if (has_status(x.message, status)) return true;
  const auto text = lower(x.message + " " + x.cause);
  return text.find("overloaded") != text.npos ||
         text.find("insufficient_quota") != text.npos ||
         text.find("at capacity") != text.npos;
}

next_try plan_second_try(const error& x, const std::vector<std::string>& sent,
                         const second_tries& before, bool others) {
  if (!before.made_room && is_context_overflow(x))
    return {second_try::with_less, {}};
  if (!before.left_out)
    if (auto name = refused_parameter(x, sent))
      return {second_try::without_parameter, *std::move(name)};
  if (others && is_out_of_service(x)) return {second_try::other_model, {}};
  return {};
}

}  // namespace riffle::core
