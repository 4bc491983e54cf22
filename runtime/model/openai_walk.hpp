// SPDX-License-Identifier: MIT
#pragma once

// Walking a document of simdjson on demand, which is strict only where it is
// looked at. Each function gives false for what is no JSON.

#include <cstring>
#include <simdjson.h>
#include <string_view>

namespace riffle::model::openai {

namespace od = simdjson::ondemand;
using od::json_type;

// Keys are compared as written. The document is padded, so that a comparison
// may look beyond a shorter key.
template <std::size_t N>
bool is(const od::raw_json_string& key, const char (&name)[N]) {
  return std::memcmp(key.raw(), name, N - 1) == 0 && key.raw()[N - 1] == '"';
}

// Rare, and not checked by the library before somebody unescapes it.
inline bool has_escape(const od::raw_json_string& key) {
  const auto* c = key.raw();
  while (*c != '"' && *c != '\\') ++c;
  return *c == '\\';
}

// Calls `f(key, value)` for each member; stops with false when `f` does.
template <class F>
bool each_member(od::value& x, F f) {
  od::object object;
  if (x.get_object().get(object)) return false;
  for (auto member : object) {
    od::raw_json_string key;
    od::value value;
    if (member.key().get(key) || has_escape(key) || member.value().get(value))
      return false;
    if (!f(key, value)) return false;
  }
  return true;
}

template <class F>
bool each_element(od::value& x, F f) {
  od::array array;
  if (x.get_array().get(array)) return false;
  for (auto element : array) {
    od::value value;
    if (std::move(element).get(value) || !f(value)) return false;
  }
  return true;
}

inline bool is_null(od::value& x) {
  json_type type{};
  return !x.type().get(type) && type == json_type::null && !x.is_null().error();
}

// Whether what nobody asks for is JSON too: values that are passed over are
// not looked at by the library. What nests deeper than usual is left to
// `read_any`, which knows the limit.
inline bool is_good(od::value& x, int levels = 32) {
  json_type type{};
  if (levels == 0 || x.type().get(type)) return false;
  switch (type) {
    case json_type::object:
      return each_member(
          x, [levels](auto, auto& v) { return is_good(v, levels - 1); });
    case json_type::array:
      return each_element(x,
                          [levels](auto& v) { return is_good(v, levels - 1); });
    case json_type::string: return !x.get_string().error();
    case json_type::number: return !x.get_double().error();
    case json_type::boolean: return !x.get_bool().error();
    default: return is_null(x);
  }
}

// Nothing for null; false if it is neither null nor a string.
inline bool get_text(od::value& x, std::string_view& out) {
  json_type type{};
  if (x.type().get(type)) return false;
  if (type == json_type::null) return !x.is_null().error();
  return type == json_type::string && !x.get_string().get(out);
}

}  // namespace riffle::model::openai
