// SPDX-License-Identifier: MIT
#include "runtime/model/anthropic_decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/usage.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::anthropic {

namespace {

using answer::count_at;
using answer::member;
using answer::text_at;
using nlohmann::ordered_json;

struct stop_word {
  std::string_view word;
  finish_reason meaning;
};

constexpr std::array stop_words{
    stop_word{"end_turn", finish_reason::stop},
    stop_word{"stop_sequence", finish_reason::stop},
    stop_word{"tool_use", finish_reason::tool_calls},
    stop_word{"max_tokens", finish_reason::length},
    stop_word{"model_context_window_exceeded", finish_reason::length},
    stop_word{"refusal", finish_reason::content_filter},
    stop_word{"pause_turn", finish_reason::paused},
};

finish_reason finish_of(std::string_view word) {
  const auto i = std::ranges::find(stop_words, word, &stop_word::word);
  return i != stop_words.end() ? i->meaning : finish_reason::missing;
}

/// What is told of an answer more often than this is told at its end.
constexpr std::size_t most_states = 8;

/// The input of a tool is parsed: a byte of it may be a value.
constexpr std::uint64_t weight_of_input = sizeof(ordered_json) / 2;

void append_to(ordered_json& x, const char* key, const std::string& text) {
  auto& value = x[key];
  if (!value.is_string()) value = "";
  value.get_ref<std::string&>() += text;
}

void add(turn_delta& out, piece_kind kind, const std::string& text) {
  if (!text.empty()) out.pieces.add(kind, text);
}

bool says_nothing(const std::string& text) { return trimmed(text).empty(); }

}  // namespace

void anthropic_decoder::on_event(const json& x, turn_delta& out) {
  const auto type = text_at(x, "type");
  const auto index = count_at(x, "index").value_or(0);
  if (type == "message_start")
    on_start(member(x, "message"), out);
  else if (type == "content_block_start")
    on_block(index, member(x, "content_block"), out);
  else if (type == "content_block_delta")
    on_delta(index, member(x, "delta"), out);
  else if (type == "content_block_stop")
    on_stop(index, out);
  else if (type == "message_delta")
    on_finish(x, out);
  else if (type == "message_stop" && finish_) {
    if (finishes_ > most_states) give_state(out);
    be_done(out);
  }
}

void anthropic_decoder::on_document(const json& x, turn_delta& out) {
  if (!member(x, "content").is_array()) return;
  on_start(x, out);
  std::uint64_t index = 0;
  for (const auto& block : x["content"]) {
    on_block(index, block, out);
    on_stop(index++, out);
  }
  on_finish(json{{"delta", x}}, out);
  if (finish_) be_done(out);
}

void anthropic_decoder::on_start(const json& message, turn_delta& out) {
  auto id = text_at(message, "id");
  if (id_ && *id_ != id)
    return fail(out, {errc::model_error,
                      "model",
                      "the model server began another message in the middle "
                      "of one",
                      true,
                      {}});
  id_ = std::move(id);
  read_usage(member(message, "usage"), out);
}

void anthropic_decoder::on_block(std::uint64_t index, const json& x,
                                 turn_delta& out) {
  if (!x.is_object() || blocks_.contains(index)) return;
  auto& b = blocks_[index];
  b.type = text_at(x, "type");
  b.value = x;
  kept_ += sizeof(block) + wire::weight_of(b.value);
  if (b.type == "text") add(out, piece_kind::text, text_at(x, "text"));
  if (b.type == "thinking")
    add(out, piece_kind::reasoning, text_at(x, "thinking"));
  if (b.type == "compaction") add(out, piece_kind::text, text_at(x, "content"));
  if (b.type != "tool_use") return;
  auto& fragment = out.fragments.emplace_back();
  fragment.index = static_cast<std::uint32_t>(index);
  fragment.id = text_at(x, "id");
  fragment.name = text_at(x, "name");
}

void anthropic_decoder::on_delta(std::uint64_t index, const json& x,
                                 turn_delta& out) {
  const auto known = blocks_.find(index);
  if (known == blocks_.end() || known->second.stopped) return;
  auto& b = known->second;
  const auto type = text_at(x, "type");
  const auto keep = [&](const char* key, const std::string& text) {
    append_to(b.value, key, text);
    kept_ += text.size();
  };
  if (type == "text_delta") {
    add_told(index, told::text, text_at(x, "text"), out);
  } else if (type == "thinking_delta") {
    add_told(index, told::thinking, text_at(x, "thinking"), out);
  } else if (type == "signature_delta") {
    keep("signature", text_at(x, "signature"));
  } else if (type == "input_json_delta") {
    add_told(index, told::input, text_at(x, "partial_json"), out);
  } else if (type == "citations_delta") {
    if (!b.value["citations"].is_array())
      b.value["citations"] = ordered_json::array();
    auto& one = b.value["citations"].emplace_back();
    one = member(x, "citation");
    kept_ += wire::weight_of(one);
  } else if (type == "compaction_delta") {
    keep("content", text_at(x, "content"));
    if (const auto secret = text_at(x, "encrypted_content"); !secret.empty()) {
      b.value["encrypted_content"] = secret;
      kept_ += secret.size();
    }
    add(out, piece_kind::text, text_at(x, "content"));
  } else {
    b.odd = true;
  }
}

/// Of a block that has begun and not stopped; else nothing happens.
void anthropic_decoder::add_told(std::uint64_t index, told what,
                                 const std::string& said, turn_delta& out) {
  const auto known = blocks_.find(index);
  if (known == blocks_.end() || known->second.stopped) return;
  std::string joined;
  const bool halves = has_halves() || halves_.any();
  if (halves) joined = halves_.join({index, what}, said, has_halves());
  const auto& text = halves ? joined : said;
  auto& b = known->second;
  kept_ += text.size();
  switch (what) {
    case told::text:
      append_to(b.value, "text", text);
      return add(out, piece_kind::text, text);
    case told::thinking:
      append_to(b.value, "thinking", text);
      return add(out, piece_kind::reasoning, text);
    case told::input: break;
  }
  if (b.type != "tool_use") {
    b.input += text;
    kept_ += text.size() * weight_of_input;
    return;
  }
  if (text.empty()) return;
  b.has_input = true;
  auto& fragment = out.fragments.emplace_back();
  fragment.index = static_cast<std::uint32_t>(index);
  fragment.arguments = text;
}

std::optional<anthropic_decoder::told> anthropic_decoder::told_by(
    const json& event) {
  if (text_at(event, "type") != "content_block_delta") return {};
  const auto type = text_at(member(event, "delta"), "type");
  if (type == "text_delta") return told::text;
  if (type == "thinking_delta") return told::thinking;
  if (type == "input_json_delta") return told::input;
  return {};
}

bool anthropic_decoder::takes_halves(const json& x) const {
  return told_by(x).has_value();
}

std::span<const std::string_view> anthropic_decoder::often(const json& x) {
  using path = std::array<std::string_view, 2>;
  static constexpr path text{"delta", "text"};
  static constexpr path thinking{"delta", "thinking"};
  static constexpr path input{"delta", "partial_json"};
  const auto what = told_by(x);
  if (!what) return {};
  again_index_ = count_at(x, "index").value_or(0);
  again_ = *what;
  switch (*what) {
    case told::text: return text;
    case told::thinking: return thinking;
    case told::input: break;
  }
  return input;
}

void anthropic_decoder::on_again(const std::string& text, turn_delta& out) {
  add_told(again_index_, again_, text, out);
}

void anthropic_decoder::on_stop(std::uint64_t index, turn_delta& out) {
  const auto known = blocks_.find(index);
  if (known == blocks_.end() || known->second.stopped) return;
  auto& b = known->second;
  for (const auto what : {told::text, told::thinking, told::input})
    if (halves_.give_up({index, what}))
      add_told(index, what, std::string{replacement_character}, out);
  b.stopped = true;
  const auto input = b.value.find("input");
  const bool whole =
      !b.has_input && input != b.value.end() && input->is_object();
  if (b.type == "tool_use") {
    auto& fragment = out.fragments.emplace_back();
    fragment.index = static_cast<std::uint32_t>(index);
    if (whole && !input->empty()) fragment.arguments = wire::text_of(*input);
    fragment.closes = true;
  } else if (!b.input.empty()) {
    auto parsed =
        ordered_json::parse(std::exchange(b.input, {}), nullptr, false);
    b.odd = b.odd || parsed.is_discarded();
    if (!b.odd) b.value["input"] = std::move(parsed);
  }
}

void anthropic_decoder::on_finish(const json& x, turn_delta& out) {
  read_usage(member(x, "usage"), out);
  const auto word = text_at(member(x, "delta"), "stop_reason");
  if (word.empty()) return;
  finish_ = finish_of(word);
  out.finish = finish_;
  if (++finishes_ <= most_states) give_state(out);
}

// A second finish that leaves nothing does not take the first one's back.
void anthropic_decoder::give_state(turn_delta& out) const {
  if (auto kept = state(); !kept.empty()) out.state = std::move(kept);
}

// Each report says all that it knows, so it takes the place of the last.
void anthropic_decoder::read_usage(const json& x, turn_delta& out) {
  if (!x.is_object()) return;
  const auto input = count_at(x, "input_tokens");
  const auto output = count_at(x, "output_tokens");
  if (input) {
    const auto cached = count_at(x, "cache_read_input_tokens");
    const auto made = count_at(x, "cache_creation_input_tokens");
    usage_.input_tokens =
        add_up(add_up(*input, cached.value_or(0)), made.value_or(0));
    if (cached) usage_.cached_tokens = cached;
  }
  if (output) usage_.output_tokens = *output;
  if (const auto thought =
          count_at(member(x, "output_tokens_details"), "thinking_tokens"))
    usage_.reasoning_tokens = thought;
  if (input || output) out.usage = usage_;
}

anthropic_decoder::result_ids anthropic_decoder::results() const {
  result_ids all;
  for (const auto& [index, x] : blocks_)
    if (const auto id = x.value.find("tool_use_id");
        id != x.value.end() && id->is_string())
      all.insert(id->get<std::string>());
  return all;
}

// What a turn that was cut left unfinished is refused by the provider.
bool anthropic_decoder::goes_back(const block& x,
                                  const result_ids& known) const {
  if (x.odd || !x.stopped) return false;
  if (x.type == "text")
    return x.value.contains("text") && x.value["text"].is_string() &&
           !says_nothing(x.value["text"].get_ref<const std::string&>());
  if (x.type == "thinking")
    return x.value.contains("signature") && x.value["signature"].is_string() &&
           !x.value["signature"].get_ref<const std::string&>().empty();
  if (x.type == "server_tool_use")
    return finish_ == finish_reason::paused ||
           (x.value.contains("id") && x.value["id"].is_string() &&
            known.contains(x.value["id"].get_ref<const std::string&>()));
  return true;
}

// Plain text and calls need none: they are on record.
std::string anthropic_decoder::state() const {
  auto out = ordered_json::array();
  bool plain = true;
  std::uint32_t calls = 0;
  std::uint32_t texts = 0;
  const auto known = results();
  bool thoughts_only = finish_ != finish_reason::paused;
  for (const auto& [index, x] : blocks_) {
    if (x.type == "tool_use") {
      thoughts_only = false;
      auto more = x.value;
      for (const auto* key : {"type", "id", "name", "input"}) more.erase(key);
      out.push_back({{"call", calls++}, {"more", std::move(more)}});
      continue;
    }
    if (!goes_back(x, known)) continue;
    thoughts_only = thoughts_only && x.type.ends_with("thinking");
    plain = plain && x.type == "text" && ++texts == 1 && calls == 0 &&
            !x.value.contains("citations");
    out.push_back(x.value);
  }
  // A message must not end with thoughts.
  return plain || thoughts_only ? std::string{} : wire::text_of(out);
}

}  // namespace riffle::model::anthropic
