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
constexpr std::array<std::pair<string_view, string_view>, 36> wire_names{{
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
    {"response_schema", "response_format"},
    {"response_schema", "json_schema"},
    {"response_schema", "output_config.format"},
    {"response_schema", "output_format"},
    {"response_schema", "output format"},
    {"response_schema", "structured output"},
    {"response_schema", "structured outputs"},
    {"response_schema", "text.format"},
    {"response_schema", "\"format\""},
    {"response_schema", "'format'"},
    {"response_schema", "`format`"},
    {"response_schema", "response mime type"},
    {"seed", "random_seed"},
    {"stream_options", "include_usage"},
    {"reasoning_summary", "reasoning.summary"},
    {"reasoning_summary", "reasoning summaries"},
    {"reasoning_summary", "reasoning"},
    {"include", "'include'"},
    {"include", "\"include\""},
    {"include", "`include`"},
    {"include", "(include"},
    {"include", "reasoning.encrypted_content"},
    {"include", "Encrypted content"},
}};

/// What dialects say without being asked to.
constexpr std::array<string_view, 4> added{
    "reasoning_summary", "include", "stream_options", "eager_input_streaming"};

/// Whatever a server has against them, it is the form.
constexpr std::array<string_view, 4> forms{"output_config.format",
                                           "response_format", "text.format",
                                           "ChatRequest.format"};

/// Said of a parameter that is not taken, whatever its value.
constexpr std::array<string_view, 20> refusing{
    "unsupported",     "not supported",       "not support",
    "not permitted",   "not allowed",         "not available",
    "unknown",         "unrecognized",        "unrecognised",
    "unexpected",      "extra inputs",        "extra_forbidden",
    "deprecated",      "cannot find field",   "may only be set",
    "cannot both",     "cannot be specified", "only the default",
    "does not accept", "incompatible"};

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

constexpr std::array<string_view, 7> out_of_service{
    "overloaded",
    "insufficient_quota",
    "at capacity",
    "credit balance",
    "insufficient balance",
    "insufficient credits",
    "used all available credits"};

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

/// "presencePenalty" of "presence_penalty", as xAI and Google say it.
std::string camel(string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joins = name[i] == '_' && i + 1 < name.size() &&
                       name[i + 1] >= 'a' && name[i + 1] <= 'z';
    out += joins ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return out;
}

/// The length of the name in our own words; 0: it is not named.
std::size_t named(string_view text, string_view parameter) {
  // A word like any.
  if (parameter == "include") return 0;
  const bool said = names(text, parameter) || names(text, camel(parameter));
  return said ? parameter.size() : 0;
}

/// The length of the longest of its names on the wire.
std::size_t wire_named(string_view text, string_view parameter) {
  std::size_t out = 0;
  for (const auto& [ours, theirs] : wire_names)
    if (ours == parameter && names(text, theirs))
      out = std::max(out, theirs.size());
  return out;
}

/// Of those that are named by the longest name the last one.
template <class F>
std::optional<std::string> longest(string_view text,
                                   const std::vector<std::string>& all, F f) {
  std::size_t most = 1;
  std::optional<std::string> out;
  for (const auto& x : all) {
    const auto length = f(text, x);
    if (length < most) continue;
    most = length;
    out = x;
  }
  return out;
}

bool is_about_the_form(string_view text, const std::vector<std::string>& sent) {
  return std::ranges::find(sent, "response_schema") != sent.end() &&
         std::ranges::any_of(forms,
                             [&](string_view x) { return names(text, x); });
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
  if (is_about_the_form(text, sent)) return "response_schema";
  if (!has_any(lower(text), refusing)) return std::nullopt;
  // "reasoning_effort" also names "effort".
  if (auto name = longest(text, sent, named)) return name;
  return longest(text, sent, wire_named);
}

bool is_added(string_view parameter) {
  return std::ranges::find(added, parameter) != added.end();
}

bool is_out_of_service(const error& x) {
  if (x.code == errc::model_unreachable || x.code == errc::model_rate_limited)
    return true;
  // Nothing came; an answer that only paused may come the next time.
  if (x.code == errc::timeout)
    return x.message.starts_with("no connection within") ||
           x.message.starts_with("no answer within");
  if (x.code != errc::model_error) return false;
  for (const auto* status : {"402", "502", "503", "504", "529"})
    if (has_status(x.message, status)) return true;
  const auto text = lower(x.message + " " + x.cause);
  return has_any(text, out_of_service);
}

next_try plan_second_try(const error& x, const std::vector<std::string>& sent,
                         const second_tries& before, bool others) {
  if (!before.made_room && is_context_overflow(x))
    return {second_try::with_less, {}};
  if (auto name = refused_parameter(x, sent);
      name && (!before.left_out || is_added(*name)))
    return {second_try::without_parameter, *std::move(name)};
  if (others && is_out_of_service(x)) return {second_try::other_model, {}};
  return {};
}

}  // namespace riffle::core
