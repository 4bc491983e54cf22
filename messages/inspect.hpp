// SPDX-License-Identifier: MIT
#pragma once

// How CAF 0.17 serialises what crosses nodes. With type_ids.hpp the only
// contact of messages/ with CAF.
//
// Fields go over the wire as fields.hpp lists them, without names. An
// enumerator that this version does not know stays what it is and reads
// "unknown".

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <caf/error.hpp>
#include <caf/timespan.hpp>

#include "messages/fields.hpp"

namespace riffle::wire {

/// A field that CAF cannot inspect by itself: std::optional, and double (CAF
/// 0.17 packs it by arithmetic that never ends for infinity; here its bits
/// travel).
template <class T>
struct field {
  T& value;
};

template <class T>
struct is_special : std::is_same<T, double> {};
template <class T>
struct is_special<std::optional<T>> : std::true_type {};

/// `x` as CAF can inspect it.
template <class T>
decltype(auto) of(T& x) {
  if constexpr (is_special<T>::value)
    return field<T>{x};
  else
    return (x);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, field<double>& x) {
  if constexpr (Inspector::writes_state) {
    std::uint64_t bits = 0;
    auto err = f(bits);
    x.value = std::bit_cast<double>(bits);
    return err;
  } else if constexpr (std::is_void_v<typename Inspector::result_type>) {
    return f(x.value);  // for people
  } else {
    auto bits = std::bit_cast<std::uint64_t>(x.value);
    return f(bits);
  }
}

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f,
                                        field<std::optional<T>>& x) {
  bool has = x.value.has_value();
  if constexpr (Inspector::writes_state) {
    x.value.reset();
    if (auto err = f(has)) return err;
    if (!has) return caf::none;
    return f(of(x.value.emplace()));
  } else {
    if (has) return f(has, of(*x.value));
    return f(has);
  }
}

/// An enumerator in CAF's texts, without quotes.
struct word {
  std::string_view text;
};

inline std::string to_string(word x) { return std::string{x.text}; }

/// An inspector that makes texts for people. To all others CAF knows how to
/// show an enumeration.
template <class Inspector>
concept for_people = std::is_void_v<typename Inspector::result_type>;

}  // namespace riffle::wire

namespace riffle {

// CAF knows timespan; the two must be one type.
static_assert(std::same_as<duration, caf::timespan>);

template <class Inspector, class Tag>
typename Inspector::result_type inspect(Inspector& f, strong_id<Tag>& x) {
  return f(x.value);
}

template <wire::for_people Inspector, class E>
  requires std::is_enum_v<E>
void inspect(Inspector& f, E& x) {
  f(wire::word{to_string(x)});
}

template <class Inspector, class T>
  requires requires(T& x) { fields(x); }
typename Inspector::result_type inspect(Inspector& f, T& x) {
  return std::apply([&](auto&... xs) { return f(wire::of(xs)...); }, fields(x));
}

}  // namespace riffle

namespace riffle::work {

using riffle::inspect;

}  // namespace riffle::work
