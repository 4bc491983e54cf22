// SPDX-License-Identifier: MIT
#include "runtime/model/openai_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/surrogate_joiner.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::openai {

namespace {

using nlohmann::ordered_json;

std::string string_of(const ordered_json& x, const char* key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

// Texts that come in parts.
bool is_part(std::string_view key) {
  constexpr std::array<std::string_view, 4> parts{"text", "summary", "data",
                                                  "signature"};
  for (const auto part : parts)
    if (key == part) return true;
  return false;
}

bool same(const ordered_json& x, const ordered_json& y, const char* key) {
  const auto i = x.find(key);
  const auto k = y.find(key);
  const bool in_x = i != x.end() && !i->is_null();
  const bool in_y = k != y.end() && !k->is_null();
  if (!in_x || !in_y) return in_x == in_y;
  return *i == *k;
}

bool is_usual(std::string_view key) {
  constexpr std::array<std::string_view, 6> usual{
      "index", "id", "type", "function", "name", "arguments"};
  for (const auto name : usual)
    if (key == name) return true;
  return false;
}

bool is_open_thinking(const ordered_json& x) {
  const auto type = x.find("type");
  const auto signature = x.find("signature");
  return type != x.end() && *type == "thinking" && x.contains("thinking") &&
         (signature == x.end() || !signature->is_string() ||
          signature->get_ref<const std::string&>().empty());
}

/// `{"type":"text","text":"…"}` and no more.
bool is_plain_text(const ordered_json& x) {
  return x.is_object() && x.size() == 2 && x.contains("type") &&
         x["type"] == "text" && x.contains("text") && x["text"].is_string();
}

/// Thoughts are a text, or a list of which neighbours that are texts are one.
void append_thoughts(ordered_json& to, const ordered_json& more) {
  if (to.is_string() && more.is_string()) {
    to.get_ref<std::string&>() += more.get_ref<const std::string&>();
  } else if (to.is_array() && more.is_array()) {
    for (const auto& x : more) {
      if (!to.empty() && is_plain_text(to.back()) && is_plain_text(x))
        append_thoughts(to.back()["text"], x["text"]);
      else
        to.push_back(x);
    }
  } else if (!more.is_null()) {
    to = more;
  }
}

}  // namespace

void state_keeper::read(const ordered_json& event, std::size_t told,
                        bool halves) {
  halves_ = halves_ || halves;
  const auto choices = event.find("choices");
  if (!event.is_object() || choices == event.end() || !choices->is_array())
    return;
  for (const auto& choice : *choices) {
    if (!choice.is_object() || choice.value("index", ordered_json(0)) != 0)
      continue;
    const bool whole = !choice.contains("delta");
    const auto part = choice.find(whole ? "message" : "delta");
    if (part == choice.end() || !part->is_object()) continue;
    if (const auto all = part->find("content");
        all != part->end() && all->is_array())
      read_content(*all, whole, told);
    if (const auto all = part->find("reasoning_details");
        all != part->end() && all->is_array())
      for (const auto& x : *all) read_detail(x);
    if (const auto all = part->find("tool_calls");
        all != part->end() && all->is_array())
      for (std::size_t i = 0; i < all->size(); ++i) read_call((*all)[i], i);
  }
}

// Texts are on record: of them counts where they stand.
void state_keeper::read_content(const ordered_json& parts, bool whole,
                                std::size_t told) {
  for (const auto& x : parts) {
    if (is_shown(x))
      told += shown_text(x).size();
    else if (string_of(x, "type") != "reasoning")
      read_part(x, whole, told);
  }
}

// In a stream thinking comes in many parts, up to its signature.
void state_keeper::read_part(const ordered_json& x, bool whole,
                             std::size_t told) {
  changed_ = true;
  const bool goes_on = !whole && !content_.empty() &&
                       content_.back()["after"] == told &&
                       is_open_thinking(content_.back()["part"]) &&
                       string_of(x, "type") == "thinking";
  if (!goes_on) {
    content_.push_back({{"after", told}, {"part", x}});
    kept_ += wire::weight_of(content_.back());
    return;
  }
  auto& last = content_.back()["part"];
  for (const auto& [key, value] : x.items()) {
    if (value.is_null()) continue;
    auto* known = wire::member_to_keep(last, key, kept_);
    if (known == nullptr) continue;
    const auto& more = value;
    kept_ += wire::weight_of(more);
    if (key == "thinking")
      append_thoughts(*known, more);
    else
      *known = more;
  }
}

// Parts of one detail come in several chunks.
void state_keeper::read_detail(const ordered_json& x) {
  if (!x.is_object()) return;
  changed_ = true;
  if (details_.empty() || !same(details_.back(), x, "type") ||
      !same(details_.back(), x, "index")) {
    details_.push_back(x);
    kept_ += wire::weight_of(details_.back());
    return;
  }
  auto& last = details_.back();
  for (const auto& [key, value] : x.items()) {
    if (value.is_null()) continue;
    auto* known = wire::member_to_keep(last, key, kept_);
    if (known == nullptr) continue;
    if (is_part(key) && value.is_string() && known->is_string()) {
      const auto& more = value.get_ref<const std::string&>();
      known->get_ref<std::string&>() += more;
      kept_ += more.size();
    } else {
      *known = value;
      kept_ += wire::weight_of(*known);
    }
  }
}

void state_keeper::read_call(const ordered_json& x, std::size_t position) {
  if (!x.is_object()) return;
  auto more = ordered_json::object();
  std::uint64_t passing = 0;  // what is kept of it is counted below
  for (const auto& [key, value] : x.items()) {
    if (is_usual(key) || value.is_null()) continue;
    if (auto* to = wire::member_to_keep(more, key, passing)) *to = value;
  }
  if (more.empty()) return;
  changed_ = true;
  const auto index = x.find("index");
  const auto at = index != x.end() && index->is_number_unsigned()
                      ? index->get<std::uint64_t>()
                      : position;
  const auto id = string_of(x, "id");
  const auto known = place_of(id, at);
  if (known < calls_.size()) {
    for (const auto& [key, value] : more.items())
      if (auto* to = wire::member_to_keep(calls_[known]["more"], key, kept_)) {
        *to = value;
        kept_ += wire::weight_of(value);
      }
    return;
  }
  by_at_.emplace(at, known);
  if (!id.empty()) by_id_.emplace(id, known);
  calls_.push_back({{"id", id}, {"at", at}, {"more", std::move(more)}});
  kept_ += wire::weight_of(calls_.back()) + id.size();
}

/// By its id, else by its index; behind the last one: nowhere.
std::size_t state_keeper::place_of(const std::string& id,
                                   std::uint64_t at) const {
  if (!id.empty()) {
    const auto found = by_id_.find(id);
    return found != by_id_.end() ? found->second : calls_.size();
  }
  const auto found = by_at_.find(at);
  return found != by_at_.end() ? found->second : calls_.size();
}

std::string state_keeper::take() {
  changed_ = false;
  auto out = ordered_json::object();
  if (!details_.empty()) out["details"] = details_;
  if (!calls_.empty()) out["calls"] = calls_;
  if (!content_.empty()) out["content"] = content_;
  auto text = wire::text_of(out);
  return halves_ ? halves::joined(text) : text;
}

ordered_json parse_state(std::string_view text) {
  auto out = ordered_json::parse(text, nullptr, false);
  return out.is_object() ? out : ordered_json::object();
}

ordered_json content_of(const ordered_json& state, std::string_view text) {
  const auto kept = state.find("content");
  if (kept == state.end()) return nullptr;
  auto out = ordered_json::array();
  std::size_t told = 0;
  const auto tell = [&](std::string_view all) {
    if (all.size() > told)
      out.push_back({{"type", "text"}, {"text", all.substr(told)}});
    told = std::max(told, all.size());
  };
  for (const auto& x : *kept) {
    tell(cut_utf8(text, x["after"].get<std::size_t>()));
    out.push_back(x["part"]);
  }
  tell(text);
  return out;
}

more_of_calls::more_of_calls(const ordered_json& state) {
  const auto calls = state.find("calls");
  if (calls == state.end() || !calls->is_array()) return;
  for (const auto& x : *calls) {
    const auto id = x.value("id", std::string{});
    if (id.empty())
      by_place_.emplace(x.value("at", std::uint64_t{0}), &x["more"]);
    else
      by_id_.emplace(id, &x["more"]);
  }
}

ordered_json more_of_calls::of(std::size_t position,
                               std::string_view id) const {
  if (const auto found = by_id_.find(std::string{id}); found != by_id_.end())
    return *found->second;
  const auto found = by_place_.find(position);
  return found != by_place_.end() ? *found->second : ordered_json::object();
}

}  // namespace riffle::model::openai
