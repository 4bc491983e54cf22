// SPDX-License-Identifier: MIT
// The tolerant reader: everything that providers were seen to send.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <nlohmann/json.hpp>

#include "messages/money.hpp"
#include "runtime/model/openai_chunk.hpp"

namespace riffle::model::openai {

namespace {

using json = nlohmann::ordered_json;

// The member, or null for whatever cannot be had.
const json& member(const json& x, const char* key) {
  static const json nothing;
  if (!x.is_object()) return nothing;
  const auto i = x.find(key);
  return i != x.end() ? *i : nothing;
}

std::string text_of(const json& x) {
  return x.is_string() ? x.get<std::string>() : std::string{};
}

// All text in a value: a string, an object with one, or a list of those.
void append_text(const json& x, std::string& to) {
  if (x.is_string()) {
    to += x.get_ref<const std::string&>();
  } else if (x.is_array()) {
    for (const auto& part : x) append_text(part, to);
  } else if (x.is_object()) {
    for (const char* key : {"text", "thinking", "summary", "content"}) {
      if (!member(x, key).is_null()) return append_text(member(x, key), to);
    }
  }
}

void add(turn_delta& out, piece_kind kind, std::string_view text) {
  if (!text.empty()) out.pieces.add(kind, text);
}

// One part of a content list, by its type.
void read_part(const json& part, turn_delta& out) {
  const auto type = text_of(member(part, "type"));
  if (is_shown(part)) {
    add(out, type == "refusal" ? piece_kind::refusal : piece_kind::text,
        shown_text(part));
  } else if (type == "thinking" || type == "reasoning") {
    std::string text;
    append_text(part, text);
    add(out, piece_kind::reasoning, text);
  }
}

// The three names are alternatives: the first that says something counts.
void read_reasoning(const json& delta, turn_delta& out) {
  for (const char* key :
       {"reasoning_content", "reasoning", "reasoning_details"}) {
    std::string text;
    append_text(member(delta, key), text);
    if (text.empty()) continue;
    return add(out, piece_kind::reasoning, text);
  }
}

void read_content(const json& content, turn_delta& out) {
  if (!content.is_array()) return read_part(content, out);
  for (const auto& part : content) read_part(part, out);
}

void read_arguments(const json& x, call_fragment& fragment) {
  if (x.is_string()) {
    fragment.arguments = x.get<std::string>();
  } else if (x.is_object()) {
    fragment.arguments = x.dump(-1, ' ', false, json::error_handler_t::replace);
    fragment.arguments_whole = true;
  }
}

void read_call(const json& x, bool whole, std::uint32_t position,
               turn_delta& out) {
  if (!x.is_object()) return;
  call_fragment fragment;
  const auto& index = member(x, "index");
  if (index.is_number_unsigned() &&
      index.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max()) {
    fragment.index = index.get<std::uint32_t>();
  }
  // A message is no stream: its calls are separate and complete.
  if (whole) {
    fragment.index = position;
    fragment.closes = true;
  }
  fragment.id = text_of(member(x, "id"));
  const auto& function = member(x, "function");
  const auto& source = function.is_object() ? function : x;
  fragment.name = text_of(member(source, "name"));
  read_arguments(member(source, "arguments"), fragment);
  out.fragments.push_back(std::move(fragment));
}

void read_calls(const json& delta, bool whole, turn_delta& out) {
  const auto& calls = member(delta, "tool_calls");
  if (calls.is_object()) return read_call(calls, whole, 0, out);
  if (calls.is_array()) {
    std::uint32_t position = 0;
    for (const auto& x : calls) read_call(x, whole, position++, out);
  }
  // The deprecated single call.
  const auto& old = member(delta, "function_call");
  if (calls.empty() && old.is_object()) {
    read_call(old, whole, 0, out);
    out.fragments.back().index = 0;
  }
}

void read_delta(const json& delta, bool whole, turn_delta& out) {
  if (!delta.is_object()) return;
  read_reasoning(delta, out);
  read_content(member(delta, "content"), out);
  std::string refusal;
  append_text(member(delta, "refusal"), refusal);
  add(out, piece_kind::refusal, refusal);
  read_calls(delta, whole, out);
}

std::optional<std::uint64_t> count_of(const json& x, const char* key) {
  const auto& value = member(x, key);
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_float() && value.get<double>() >= 0 &&
      value.get<double>() < 1e15) {
    return static_cast<std::uint64_t>(value.get<double>());
  }
  return std::nullopt;
}

template <class... Keys>
std::optional<std::uint64_t> first_count(const json& x, Keys... keys) {
  std::optional<std::uint64_t> result;
  ((result = result ? result : count_of(x, keys)), ...);
  return result;
}

void read_usage(const json& x, turn_delta& out) {
  const auto input = first_count(x, "prompt_tokens", "input_tokens");
  const auto output = first_count(x, "completion_tokens", "output_tokens");
  if (!input && !output) return;
  token_usage usage;
  usage.input_tokens = input.value_or(0);
  usage.output_tokens = output.value_or(0);
  usage.cached_tokens =
      count_of(member(x, "prompt_tokens_details"), "cached_tokens");
  if (!usage.cached_tokens) {
    usage.cached_tokens =
        first_count(x, "cached_tokens", "prompt_cache_hit_tokens");
  }
  usage.reasoning_tokens =
      count_of(member(x, "completion_tokens_details"), "reasoning_tokens");
  if (!usage.reasoning_tokens)
    usage.reasoning_tokens = count_of(x, "reasoning_tokens");
  const auto& cost = member(x, "cost");
  if (cost.is_number() && cost.get<double>() >= 0)
    usage.cost_usd = rounded_usd(cost.get<double>());
  out.usage = usage;
}

void read_choice(const json& choice, chunk& x) {
  if (!choice.is_object()) return;
  const auto& index = member(choice, "index");
  if (index.is_number() && index != 0) return;
  if (member(choice, "delta").is_object())
    read_delta(member(choice, "delta"), false, x.out);
  else
    read_delta(member(choice, "message"), true, x.out);
  const auto word = text_of(member(choice, "finish_reason"));
  if (!word.empty()) x.finish = parse_finish(word);
  read_usage(member(choice, "usage"), x.out);
}

struct finish_word {
  std::string_view word;
  finish_reason meaning;
};

constexpr std::array finish_words{
    finish_word{"stop", finish_reason::stop},
    finish_word{"end_turn", finish_reason::stop},
    finish_word{"eos", finish_reason::stop},
    finish_word{"eos_token", finish_reason::stop},
    finish_word{"stop_sequence", finish_reason::stop},
    finish_word{"tool_calls", finish_reason::tool_calls},
    finish_word{"tool_use", finish_reason::tool_calls},
    finish_word{"function_call", finish_reason::tool_calls},
    finish_word{"length", finish_reason::length},
    finish_word{"max_tokens", finish_reason::length},
    finish_word{"model_length", finish_reason::length},
    finish_word{"content_filter", finish_reason::content_filter},
    finish_word{"safety", finish_reason::content_filter},
};

}  // namespace

bool is_shown(const json& part) {
  if (part.is_string()) return true;
  const auto type = text_of(member(part, "type"));
  return type.empty() || type == "text" || type == "output_text" ||
         type == "refusal";
}

std::string shown_text(const json& part) {
  if (part.is_string()) return text_of(part);
  const bool refused = text_of(member(part, "type")) == "refusal";
  std::string text;
  append_text(member(part, refused ? "refusal" : "text"), text);
  return text;
}

finish_reason parse_finish(std::string_view word) noexcept {
  const auto* i =
      std::find_if(finish_words.begin(), finish_words.end(),
                   [&](const finish_word& x) { return x.word == word; });
  return i != finish_words.end() ? i->meaning : finish_reason::missing;
}

void read_any(const nlohmann::ordered_json& event, chunk& x) {
  const auto& choices = member(event, "choices");
  const auto& usage = member(event, "usage");
  x.known = choices.is_array() || usage.is_object();
  if (choices.is_array()) {
    for (const auto& choice : choices) read_choice(choice, x);
  }
  read_usage(member(member(event, "x_groq"), "usage"), x.out);
  read_usage(usage, x.out);
  if (auto failure = find_error(event)) x.failure = std::move(failure);
}

}  // namespace riffle::model::openai
