// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "messages/event_line.hpp"
#include "messages/json_text.hpp"

namespace riffle {

/// Appends a number in its shortest text.
template <class T>
void append_number(std::string& out, T x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  out.append(text, static_cast<std::size_t>(end - text));
}

/// Appends the members of one JSON object to a text; the braces are the
/// caller's. Optional members that are not there are left out, and so are
/// numbers that are not finite.
class json_members {
 public:
  explicit json_members(std::string& out) : out_{out} {}

  /// In one piece: a record has dozens of keys, and each call has records.
  void key(std::string_view name) {
    char text[64];
    if (name.size() + 4 > sizeof text) return long_key(name);
    auto* end = text;
    if (!first_) *end++ = ',';
    *end++ = '"';
    end = std::copy(name.begin(), name.end(), end);
    *end++ = '"';
    *end++ = ':';
    first_ = false;
    out_.append(text, static_cast<std::size_t>(end - text));
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    out_.push_back('"');
    append_json_escaped(out_, value);
    out_.push_back('"');
  }
  void text_unless_empty(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  template <std::unsigned_integral T>
  void number(std::string_view name, T value) {
    key(name);
    append_number(out_, value);
  }
  template <class T>
  void number(std::string_view name, const std::optional<T>& value) {
    if constexpr (std::floating_point<T>)
      if (value && !std::isfinite(*value)) return;
    if (!value) return;
    key(name);
    append_number(out_, *value + T{});  // no sign for zero
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_.append(value ? "true" : "false");
  }
  void null(std::string_view name) {
    key(name);
    out_.append("null");
  }
  /// `value` is valid JSON. A line break between tokens is valid, too, but
  /// would end the line.
  void json(std::string_view name, std::string_view value) {
    key(name);
    if (value.find_first_of("\r\n") == std::string_view::npos)
      out_.append(value);
    else
      append_compact(out_, value);
  }
  /// `null` for what is no JSON object.
  void object_or_null(std::string_view name, std::string_view value) {
    if (is_json_object(value))
      json(name, value);
    else
      null(name);
  }
  /// Left out if it is no JSON object.
  void object_or_nothing(std::string_view name, std::string_view value) {
    if (!value.empty() && is_json_object(value)) json(name, value);
  }
  template <class F>
  void object(std::string_view name, F fill) {
    key(name);
    out_.push_back('{');
    json_members inner{out_};
    fill(inner);
    out_.push_back('}');
  }
  /// An array with `fill(members, x)` of each.
  template <class Range, class F>
  void objects(std::string_view name, const Range& all, F fill) {
    key(name);
    out_.push_back('[');
    bool more = false;
    for (const auto& x : all) {
      if (std::exchange(more, true)) out_.push_back(',');
      out_.push_back('{');
      json_members inner{out_};
      fill(inner, x);
      out_.push_back('}');
    }
    out_.push_back(']');
  }

 private:
  void long_key(std::string_view name) {
    if (!first_) out_.push_back(',');
    first_ = false;
    out_.append("\"").append(name).append("\":");
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace riffle
