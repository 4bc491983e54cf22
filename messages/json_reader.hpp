// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/json_text.hpp"
#include "messages/time.hpp"

namespace riffle {

/// Reads members of one JSON object; the first that is missing or mistyped is
/// written into `problem`, and what was read after it does not matter. Keeps
/// references to all that it is made with.
class json_reader {
 public:
  /// `raw` is the text that `object` was parsed from; `path` stands before
  /// the key in a problem.
  json_reader(const nlohmann::json& object, std::string_view raw,
              std::string path, std::string& problem)
      : object_{object}, raw_{raw}, path_{std::move(path)}, problem_{problem} {}

  std::string text(const char* key) {
    const auto* x = find(key);
    if (!x) return {};
    if (!x->is_string()) return fail<std::string>(key, "not a text");
    return x->get<std::string>();
  }

  std::string text_or_empty(const char* key) {
    return has(key) ? text(key) : std::string{};
  }
  template <class Id>
  Id id(const char* key) {
    return {text(key)};
  }
  template <class T>
  T number(const char* key) {
    const auto* x = find(key);
    if (!x) return {};
    if (!x->is_number_unsigned()) return fail<T>(key, "not a whole number");
    const auto value = x->get<std::uint64_t>();
    if (value > std::numeric_limits<T>::max())
      return fail<T>(key, "too large a number");
    return static_cast<T>(value);
  }
  template <class T>
  std::optional<T> maybe_number(const char* key) {
    if (!has(key)) return std::nullopt;
    return number<T>(key);
  }
  std::optional<double> maybe_double(const char* key) {
    if (!has(key)) return std::nullopt;
    const auto* x = find(key);
    if (!x->is_number()) return fail<double>(key, "not a number");
    return x->get<double>();
  }
  bool flag(const char* key) {
    const auto* x = find(key);
    if (!x) return false;
    return x->is_boolean() ? x->get<bool>() : fail<bool>(key, "not a boolean");
  }
  bool flag_or_false(const char* key) { return has(key) && flag(key); }

  template <class E>
  E choice(const char* key, std::optional<E> (*parse_text)(std::string_view)) {
    const auto name = text(key);
    if (!problem_.empty()) return {};
    if (const auto x = parse_text(name)) return *x;
    return fail<E>(key, "has an unknown value");
  }
  wall_time time(const char* key) {
    wall_time result;
    if (!parse(text(key), result))
      return fail<wall_time>(key, "not a timestamp");
    return result;
  }
  std::optional<wall_time> maybe_time(const char* key) {
    if (!has(key)) return std::nullopt;
    return time(key);
  }
  /// The text of an object; empty for `null`.
  std::string object_or_null(const char* key) {
    const auto* x = find(key);
    if (!x || x->is_null()) return {};
    if (!x->is_object()) return fail<std::string>(key, "not an object");
    return any_text(key);
  }
  std::string object_or_empty(const char* key) {
    return has(key) ? object_or_null(key) : std::string{};
  }
  /// The text of any value, compact; empty for `null`.
  std::string any_text(const char* key) {
    const auto* x = find(key);
    if (!x || x->is_null()) return {};
    std::string result;
    append_compact(result, raw_member(raw_, key));
    return result;
  }
  json_reader object(const char* key) {
    static const nlohmann::json none = nlohmann::json::object();
    const auto* x = find(key);
    if (x && !x->is_object()) fail<int>(key, "not an object");
    const auto* inner = x && x->is_object() ? x : &none;
    return {*inner, raw_member(raw_, key), path_ + key + '.', problem_};
  }
  /// Each element of an array of objects.
  template <class F>
  void objects(const char* key, F read) {
    const auto* x = find(key);
    if (!x) return;
    if (!x->is_array()) return static_cast<void>(fail<int>(key, "not a list"));
    for (std::size_t i = 0; i < x->size(); ++i) {
      const auto& one = (*x)[i];
      const auto place = path_ + key + '[' + std::to_string(i) + "].";
      if (!one.is_object())
        return static_cast<void>(fail<int>(key, "holds what is no object"));
      read(json_reader{one, {}, place, problem_});
    }
  }

  bool has(const char* key) const { return object_.contains(key); }

  /// Names the problem, unless there is one already.
  template <class T>
  T fail(const char* key, std::string_view what) {
    if (problem_.empty())
      problem_.append(path_).append(key).append(": ").append(what);
    return T{};
  }

 private:
  const nlohmann::json* find(const char* key) {
    const auto x = object_.find(key);
    if (x != object_.end()) return &*x;
    fail<int>(key, "missing");
    return nullptr;
  }

  const nlohmann::json& object_;
  std::string_view raw_;
  std::string path_;
  std::string& problem_;
};

}  // namespace riffle
