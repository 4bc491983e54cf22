// SPDX-License-Identifier: MIT
#pragma once

// How the stored forms of records are read and written; for record_json.cpp
// and proposal_json.cpp alone.

#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::storage::record_detail {

using nlohmann::json;

inline std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class T>
void get(const json& from, const char* key, T& to) {
  if (const auto i = from.find(key); i != from.end()) i->get_to(to);
}

template <class Tag>
void get(const json& from, const char* key, strong_id<Tag>& to) {
  get(from, key, to.value);
}

template <class T>
void get(const json& from, const char* key, std::optional<T>& to) {
  if (const auto i = from.find(key); i != from.end()) to = i->get<T>();
}

inline void get(const json& from, const char* key, duration& to) {
  std::int64_t count = to.count();
  get(from, key, count);
  to = duration{count};
}

template <class T>
void put(json& to, const char* key, const std::optional<T>& x) {
  if (x) to[key] = *x;
}

/// Enums whose texts are listed by `to_string` from the first to `last`.
template <class Enum>
void get_enum(const json& from, const char* key, Enum last, Enum& to) {
  const auto i = from.find(key);
  if (i == from.end()) return;
  const auto& text = i->get_ref<const std::string&>();
  for (int k = 0; k <= static_cast<int>(last); ++k) {
    to = static_cast<Enum>(k);
    if (to_string(to) == text) return;
  }
  throw std::invalid_argument{"unknown " + std::string{key} + ": " + text};
}

}  // namespace riffle::storage::record_detail
