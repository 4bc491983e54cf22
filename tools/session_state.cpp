// SPDX-License-Identifier: MIT
#include "tools/session_state.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace riffle::tools {

namespace {

using nlohmann::json;

unexpected refuse(std::string_view key, const std::string& why) {
  return unexpected{error{errc::invalid_request,
                          "state",
                          "the value of \"" + std::string{key.substr(0, 40)} +
                              "\" is not kept: " + why,
                          false,
                          {}}};
}

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::size_t bytes_of(const state_values& all) {
  std::size_t sum = 0;
  for (const auto& [key, value] : all) sum += key.size() + value.size();
  return sum;
}

}  // namespace

expected<std::string> check_state(const state_values& now, std::string_view key,
                                  const json& value) {
  if (value.is_null()) return std::string{};
  if (key.empty() || key.size() > longest_state_key)
    return refuse(
        key, "a key has 1 to " + std::to_string(longest_state_key) + " bytes");
  auto text = dump(value);
  if (text.size() > longest_state_value)
    return refuse(key, "it has " + std::to_string(text.size()) +
                           " of at most " +
                           std::to_string(longest_state_value) +
                           " bytes; keep it in a file");
  auto after = now;
  after.insert_or_assign(std::string{key}, text);
  if (after.size() > most_state_keys)
    return refuse(key, "a session has at most " +
                           std::to_string(most_state_keys) +
                           " keys; remove one (set it to null)");
  if (bytes_of(after) > most_state_bytes)
    return refuse(key, "the state of a session has at most " +
                           std::to_string(most_state_bytes) +
                           " bytes; remove something (set it to null)");
  return text;
}

void apply_state(state_values& to, const state_values& changes) {
  for (const auto& [key, value] : changes)
    if (value.empty())
      to.erase(key);
    else
      to.insert_or_assign(key, value);
}

state_values call_state::now() const {
  auto all = session_;
  apply_state(all, changes_);
  return all;
}

state_values call_state::values() const {
  std::lock_guard lock{mutex_};
  return now();
}

state_values call_state::changes() const {
  std::lock_guard lock{mutex_};
  return changes_;
}

std::optional<json> call_state::get(std::string_view key) const {
  const auto all = values();
  const auto i = all.find(std::string{key});
  if (i == all.end()) return std::nullopt;
  return json::parse(i->second);
}

bool call_state::has(std::string_view key) const {
  return values().contains(std::string{key});
}

std::map<std::string, json> call_state::all() const {
  std::map<std::string, json> out;
  for (const auto& [key, value] : values())
    out.emplace(key, json::parse(value));
  return out;
}

expected<void> call_state::set(std::string_view key, const json& value) {
  if (key.starts_with(own_state_prefix))
    return refuse(key, "keys that begin with \"" +
                           std::string{own_state_prefix} +
                           "\" are Riffle's own; take another name");
  std::lock_guard lock{mutex_};
  auto text = check_state(now(), key, value);
  if (!text) return unexpected{std::move(text.error())};
  changes_.insert_or_assign(std::string{key}, std::move(*text));
  return {};
}

void call_state::reset() {
  std::lock_guard lock{mutex_};
  changes_.clear();
  for (const auto& [key, value] : session_)
    if (!key.starts_with(own_state_prefix)) changes_.emplace(key, "");
}

}  // namespace riffle::tools
