// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace riffle {

/// An identifier that cannot be mixed up with another kind of identifier.
/// The text is opaque; ids that Riffle makes are `<prefix>_<ulid>` and unique
/// for ever.
template <class Tag>
struct strong_id {
  std::string value{};

  [[nodiscard]] bool empty() const noexcept { return value.empty(); }
  auto operator<=>(const strong_id&) const = default;
};

/// A conversation with durable state. Text: `ses_…`, or what a user chose.
using session_id = strong_id<struct session_id_tag>;

/// One task given to an agent in a session. Text: `run_…`.
using run_id = strong_id<struct run_id_tag>;

/// One tool call. Riffle's own; never what the provider sent. Text: `call_…`.
using call_id = strong_id<struct call_id_tag>;

/// An action that waits for a person's decision. Text: `prop_…`.
using proposal_id = strong_id<struct proposal_id_tag>;

}  // namespace riffle

template <class Tag>
struct std::hash<riffle::strong_id<Tag>> {
  std::size_t operator()(const riffle::strong_id<Tag>& x) const noexcept {
    return std::hash<std::string>{}(x.value);
  }
};
