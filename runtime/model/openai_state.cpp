// SPDX-License-Identifier: MIT
#include "runtime/model/openai_state.hpp"

#include <array>

#include "runtime/model/wire_text.hpp"

namespace riffle::model::openai {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string string_of(const json& x, const char* key) {
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

bool same(const ordered_json& x, const json& y, const char* key) {
  const auto i = x.find(key);
  const auto k = y.find(key);
  const bool in_x = i != x.end() && !i->is_null();
  const bool in_y = k != y.end() && !k->is_null();
  if (!in_x || !in_y) return in_x == in_y;
  return ordered_json(*i) == ordered_json::parse(k->dump());
}

bool is_usual(std::string_view key) {
  constexpr std::array<std::string_view, 6> usual{
      "index", "id", "type", "function", "name", "arguments"};
  for (const auto name : usual)
    if (key == name) return true;
  return false;
}

ordered_json ordered(const json& x) {
  return ordered_json::parse(
      x.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

void state_keeper::read(const json& event) {
  const auto choices = event.find("choices");
  if (!event.is_object() || choices == event.end() || !choices->is_array())
    return;
  for (const auto& choice : *choices) {
    if (!choice.is_object() || choice.value("index", json(0)) != 0) continue;
    const auto part =
        choice.find(choice.contains("delta") ? "delta" : "message");
    if (part == choice.end() || !part->is_object()) continue;
    if (const auto all = part->find("reasoning_details");
        all != part->end() && all->is_array())
      for (const auto& x : *all) read_detail(x);
    if (const auto all = part->find("tool_calls");
        all != part->end() && all->is_array())
      for (std::size_t i = 0; i < all->size(); ++i) read_call((*all)[i], i);
  }
}

// Parts of one detail come in several chunks.
void state_keeper::read_detail(const json& x) {
  if (!x.is_object()) return;
  changed_ = true;
  if (details_.empty() || !same(details_.back(), x, "type") ||
      !same(details_.back(), x, "index")) {
    details_.push_back(ordered(x));
    kept_ += wire::weight_of(details_.back());
    return;
  }
  auto& last = details_.back();
  for (const auto& [key, value] : x.items()) {
    if (value.is_null()) continue;
    auto& known = last[key];
    if (is_part(key) && value.is_string() && known.is_string()) {
      const auto& more = value.get_ref<const std::string&>();
      known.get_ref<std::string&>() += more;
      kept_ += more.size();
    } else {
      known = ordered(value);
      kept_ += wire::weight_of(known);
    }
  }
}

void state_keeper::read_call(const json& x, std::size_t position) {
  if (!x.is_object()) return;
  auto more = ordered_json::object();
  for (const auto& [key, value] : x.items())
    if (!is_usual(key) && !value.is_null()) more[key] = ordered(value);
  if (more.empty()) return;
  changed_ = true;
  const auto index = x.find("index");
  const auto at = index != x.end() && index->is_number_unsigned()
                      ? index->get<std::uint64_t>()
                      : position;
  const auto id = string_of(x, "id");
  kept_ += wire::weight_of(more);
  const auto known = place_of(id, at);
  if (known < calls_.size()) return calls_[known]["more"].update(more);
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
  return wire::text_of(out);
}

ordered_json parse_state(std::string_view text) {
  auto out = ordered_json::parse(text, nullptr, false);
  return out.is_object() ? out : ordered_json::object();
}

ordered_json more_of_call(const ordered_json& state, std::size_t position,
                          std::string_view id) {
  const auto calls = state.find("calls");
  if (calls == state.end()) return ordered_json::object();
  for (const auto& x : *calls)
    if (x["id"] == id) return x["more"];
  for (const auto& x : *calls)
    if (x["id"] == "" && x["at"] == position) return x["more"];
  return ordered_json::object();
}

}  // namespace riffle::model::openai
