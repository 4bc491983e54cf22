// SPDX-License-Identifier: MIT
#pragma once

// How records are written and read: a record's `members(each, x)` gives each of
// its members to a `record_writer` or a `record_reader`; for record_json.cpp
// alone. Writing makes the text at once: a tree of JSON values took a sixth of
// the CPU of a turn with thousands of calls.

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/decision.hpp"
#include "messages/ids.hpp"
#include "messages/json_members.hpp"
#include "messages/time.hpp"

namespace riffle::storage {

/// `X` is `Record`, or that and const.
template <class X, class Record>
concept of = std::same_as<std::remove_const_t<X>, Record>;

template <class T>
concept enumeration = std::is_enum_v<T>;

/// Appends a record to a text as compact JSON. What is optional and missing is
/// left out, and so is a number that is not finite.
class record_writer {
 public:
  explicit record_writer(std::string& out) : out_{out}, members_{out} {}

  template <class T>
  void operator()(std::string_view key, const T& x) {
    members_.key(key);
    value(x);
  }
  template <class T>
  void operator()(std::string_view key, const std::optional<T>& x) {
    if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>)
      members_.number(key, x);
    else if (x)
      (*this)(key, *x);
  }
  template <class T>
  void needed(std::string_view key, const T& x) {
    (*this)(key, x);
  }
  template <class T>
  void rare(std::string_view key, const T& x) {
    if (x != T{}) (*this)(key, x);
  }

  void value(const std::string& x) { quote(x); }
  void value(bool x) { out_.append(x ? "true" : "false"); }
  template <std::integral T>
  void value(T x) {
    append_number(out_, x);
  }
  void value(duration x) { append_number(out_, x.count()); }
  void value(wall_time x) { append_number(out_, x.us); }
  template <enumeration T>
  void value(T x) {
    quote(to_string(x));
  }
  template <class Tag>
  void value(const strong_id<Tag>& x) {
    quote(x.value);
  }
  template <class T>
  void value(const std::vector<T>& all) {
    out_.push_back('[');
    for (const auto& x : all) {
      if (&x != all.data()) out_.push_back(',');
      value(x);
    }
    out_.push_back(']');
  }
  template <class Record>
    requires std::is_class_v<Record>
  void value(const Record& x) {
    out_.push_back('{');
    record_writer inner{out_};
    members(inner, x);
    out_.push_back('}');
  }

 private:
  void quote(std::string_view x) {
    out_.push_back('"');
    append_json_escaped(out_, x);
    out_.push_back('"');
  }

  std::string& out_;
  json_members members_;
};

/// Reads one: what is missing keeps its value.
class record_reader {
 public:
  using json = nlohmann::json;

  explicit record_reader(const json& from) : from_{from} {}

  template <class T>
  void operator()(const char* key, T& x) {
    if (const auto i = from_.find(key); i != from_.end())
      record_reader{*i}.value(x);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& x) {
    if (const auto i = from_.find(key); i != from_.end())
      record_reader{*i}.value(x.emplace());
  }
  template <class T>
  void rare(const char* key, T& x) {
    (*this)(key, x);
  }
  template <class T>
  void needed(const char* key, T& x) {
    record_reader{from_.at(key)}.value(x);
  }

  void value(std::string& x) { from_.get_to(x); }
  template <class T>
    requires std::is_arithmetic_v<T>
  void value(T& x) {
    from_.get_to(x);
  }
  void value(duration& x) { x = duration{from_.get<std::int64_t>()}; }
  void value(wall_time& x) { from_.get_to(x.us); }
  template <enumeration T>
  void value(T& x) {
    const auto& text = from_.get_ref<const std::string&>();
    // What is no enumerator has the text "unknown".
    for (int k = 0; k < 256 && text != "unknown"; ++k) {
      x = static_cast<T>(k);
      if (to_string(x) == text) return;
    }
    throw std::invalid_argument{"unknown name: " + text};
  }
  /// Version 3 said `true` for the tool.
  void value(always_scope& x) {
    if (from_.is_boolean())
      x = from_.get<bool>() ? always_scope::tool : always_scope::none;
    else
      value<always_scope>(x);
  }
  template <class Tag>
  void value(strong_id<Tag>& x) {
    from_.get_to(x.value);
  }
  template <class T>
  void value(std::vector<T>& all) {
    for (const auto& x : from_) record_reader{x}.value(all.emplace_back());
  }
  template <class Record>
    requires std::is_class_v<Record>
  void value(Record& x) {
    members(*this, x);
  }

 private:
  const json& from_;
};

}  // namespace riffle::storage
