// SPDX-License-Identifier: MIT
#include "runtime/model/responses_decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::responses {

namespace {

using answer::count_at;
using answer::member;
using answer::text_at;
using json = nlohmann::ordered_json;
using nlohmann::ordered_json;

void add(turn_delta& out, piece_kind kind, const std::string& text) {
  if (!text.empty()) out.pieces.add(kind, text);
}

// Texts of a message's or a reasoning's parts, joined.
std::string texts_of(const json& parts) {
  std::string out;
  if (parts.is_array())
    for (const auto& part : parts) out += text_at(part, "text");
  return out;
}

void read_usage(const json& x, turn_delta& out) {
  const auto input = count_at(x, "input_tokens");
  const auto output = count_at(x, "output_tokens");
  if (!input && !output) return;
  auto& usage = out.usage.emplace();
  usage.input_tokens = input.value_or(0);
  usage.output_tokens = output.value_or(0);
  usage.cached_tokens =
      count_at(member(x, "input_tokens_details"), "cached_tokens");
  usage.reasoning_tokens =
      count_at(member(x, "output_tokens_details"), "reasoning_tokens");
}

bool is_terminal(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" ||
         type == "response.failed" || type == "response.cancelled";
}

bool is_call(std::string_view type) {
  return type == "function_call" || type == "custom_tool_call";
}

bool is_usual(std::string_view key) {
  constexpr std::array<std::string_view, 7> usual{
      "type", "id", "call_id", "name", "arguments", "input", "status"};
  return std::ranges::find(usual, key) != usual.end();
}

}  // namespace

void responses_decoder::on_event(const json& x, turn_delta& out) {
  const auto type = text_at(x, "type");
  const auto index = count_at(x, "output_index").value_or(0);
  if (type == "response.output_item.added")
    on_item(index, member(x, "item"), out);
  else if (type == "response.output_item.done")
    on_item_done(index, member(x, "item"), out);
  else if (type == "response.function_call_arguments.done")
    on_arguments_done(index, text_at(x, "arguments"), out);
  else if (is_terminal(type) && items_.empty())
    on_document(member(x, "response"), out);  // nothing came before it
  else if (is_terminal(type))
    on_end(member(x, "response"), out);
  else
    add_told(index, told_by(type), text_at(x, "delta"), out);
}

responses_decoder::told responses_decoder::told_by(std::string_view type) {
  if (type == "response.output_text.delta") return told::text;
  if (type == "response.refusal.delta") return told::refusal;
  // A summary, or with open models the thoughts themselves.
  if (type == "response.reasoning_summary_text.delta" ||
      type == "response.reasoning_text.delta")
    return told::thought;
  return type == "response.function_call_arguments.delta" ? told::arguments
                                                          : told::none;
}

bool responses_decoder::takes_halves(const json& x) const {
  return told_by(text_at(x, "type")) != told::none;
}

/// What waits for its other half when its text ends.
void responses_decoder::give_up_halves(std::uint64_t index, turn_delta& out) {
  for (const auto what :
       {told::text, told::refusal, told::thought, told::arguments})
    if (halves_.give_up({index, what}))
      add_told(index, what, std::string{replacement_character}, out);
}

void responses_decoder::add_told(std::uint64_t index, told what,
                                 const std::string& said, turn_delta& out) {
  std::string joined;
  const bool halves = has_halves() || halves_.any();
  if (halves) joined = halves_.join({index, what}, said, has_halves());
  const auto& text = halves ? joined : said;
  if (what == told::text) return add_text(items_[index], text, out);
  if (what == told::refusal) return add(out, piece_kind::refusal, text);
  if (what == told::thought) {
    items_[index].thought = true;
    return add(out, piece_kind::reasoning, text);
  }
  if (what == told::none) return;
  auto& item = items_[index];
  if (item.closed || text.empty()) return;
  item.arguments += text;
  kept_ += text.size();
  auto& fragment = out.fragments.emplace_back();
  fragment.index = static_cast<std::uint32_t>(index);
  fragment.arguments = text;
}

std::span<const std::string_view> responses_decoder::often(const json& x) {
  static constexpr std::array<std::string_view, 1> delta{"delta"};
  const auto what = told_by(text_at(x, "type"));
  if (what == told::none) return {};
  again_ = what;
  again_index_ = count_at(x, "output_index").value_or(0);
  return delta;
}

void responses_decoder::on_again(const std::string& text, turn_delta& out) {
  add_told(again_index_, again_, text, out);
}

void responses_decoder::on_document(const json& x, turn_delta& out) {
  std::uint64_t index = 0;
  const auto& output = member(x, "output");
  if (output.is_array())
    for (const auto& item : output) {
      on_item(index, item, out);
      on_item_done(index++, item, out);
    }
  on_end(x, out);
}

void responses_decoder::on_item(std::uint64_t index, const json& x,
                                turn_delta& out) {
  auto& item = items_[index];
  const bool known = !item.type.empty();
  item.type = text_at(x, "type");
  if (known || !is_call(item.type)) return;
  auto& fragment = out.fragments.emplace_back();
  fragment.index = static_cast<std::uint32_t>(index);
  fragment.id = text_at(x, "call_id");
  fragment.name = text_at(x, "name");
  keep_more(item, x);
}

/// What nobody knows beside a call.
void responses_decoder::keep_more(item& call, const json& x) {
  if (!x.is_object()) return;
  for (const auto& [key, value] : x.items()) {
    if (is_usual(key) || value.is_null()) continue;
    auto* to = wire::member_to_keep(call.value, key, kept_);
    if (to == nullptr) continue;
    *to = value;
    kept_ += wire::weight_of(*to);
  }
}

// What did not come in pieces comes now.
void responses_decoder::on_item_done(std::uint64_t index, const json& x,
                                     turn_delta& out) {
  give_up_halves(index, out);
  const bool known = items_.contains(index) && !items_[index].type.empty();
  if (!known) on_item(index, x, out);
  auto& item = items_[index];
  if (item.type == "reasoning" && member(x, "encrypted_content").is_string()) {
    item.value = x;
    kept_ += wire::weight_of(item.value);
  }
  if (known && is_call(item.type)) keep_more(item, x);
  // One that was cut must not act, even if what came looks whole.
  const bool cut = text_at(x, "status") == "incomplete";
  if (is_call(item.type) && cut) return;
  // Free text, which no tool takes: it is refused, with a result.
  if (item.type == "custom_tool_call")
    return on_arguments_done(index, "free text: " + text_at(x, "input"), out);
  if (item.type == "function_call")
    on_arguments_done(index, text_at(x, "arguments"), out);
  else
    tell_rest(item, x, out);
}

void responses_decoder::tell_rest(item& x, const json& value, turn_delta& out) {
  if (x.type == "message" && x.text.empty())
    add_text(x, texts_of(member(value, "content")), out);
  if (x.type != "reasoning" || x.thought) return;
  x.thought = true;
  auto text = texts_of(member(value, "summary"));
  if (text.empty()) text = texts_of(member(value, "content"));
  add(out, piece_kind::reasoning, text);
}

void responses_decoder::on_arguments_done(std::uint64_t index,
                                          const std::string& all,
                                          turn_delta& out) {
  give_up_halves(index, out);
  auto& item = items_[index];
  if (item.closed || !is_call(item.type)) return;
  if (!all.empty() && !all.starts_with(item.arguments))
    return fail(out, {errc::model_error,
                      "model",
                      "the model server says other arguments of a call at "
                      "its end than it streamed",
                      true,
                      {}});
  item.closed = true;
  auto& fragment = out.fragments.emplace_back();
  fragment.index = static_cast<std::uint32_t>(index);
  if (all.starts_with(item.arguments))
    fragment.arguments = all.substr(item.arguments.size());
  item.arguments += fragment.arguments;
  kept_ += fragment.arguments.size();
  fragment.closes = true;
}

void responses_decoder::add_text(item& x, const std::string& text,
                                 turn_delta& out) {
  x.text += text;
  kept_ += text.size();
  add(out, piece_kind::text, text);
}

void responses_decoder::on_end(const json& response, turn_delta& out) {
  read_usage(member(response, "usage"), out);
  const auto status = text_at(response, "status");
  const auto& why = member(response, "error");
  if (status == "failed" || status == "cancelled" || why.is_object())
    return fail(out, openai::any_error(why.is_null() ? response : why));
  const auto reason = text_at(member(response, "incomplete_details"), "reason");
  bool calls = false;
  for (const auto& [index, x] : items_) calls = calls || is_call(x.type);
  if (status == "incomplete" || !reason.empty())
    out.finish = reason == "content_filter" ? finish_reason::content_filter
                                            : finish_reason::length;
  else if (status == "completed" || status.empty())
    out.finish = calls ? finish_reason::tool_calls : finish_reason::stop;
  else
    return;
  finished_ = true;
  out.state = state();
  be_done(out);
}

// Only thoughts that nobody else can read, and what nobody knows, are worth
// more than text and calls.
std::string responses_decoder::state() const {
  auto out = ordered_json::array();
  bool any = false;
  std::uint32_t calls = 0;
  for (const auto& [index, x] : items_) {
    if (is_call(x.type)) {
      auto more = x.value.is_null() ? ordered_json::object() : x.value;
      any = any || !more.empty();
      out.push_back({{"call", calls++}, {"more", std::move(more)}});
    } else if (x.type == "message" && !x.text.empty()) {
      out.push_back({{"text", x.text}});
    } else if (x.value.is_object()) {
      any = true;
      auto item = x.value;
      item.erase("status");
      out.push_back(std::move(item));
    }
  }
  return any ? wire::text_of(out) : std::string{};
}

}  // namespace riffle::model::responses
