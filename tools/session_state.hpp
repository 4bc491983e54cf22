// SPDX-License-Identifier: MIT
#pragma once

// Small values that a session keeps for its tools: what a later call, also of
// a later run, has to know. What a call sets is stored in one commit with its
// result, and only if it ends well: a call that fails, is cancelled or
// interrupted leaves the state as it was.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "messages/error.hpp"

namespace riffle::tools {

/// Limits of a session's state, as compact JSON in bytes. Calls that run at
/// the same time each stay within them; together they may be over by what
/// they set.
inline constexpr std::size_t longest_state_key = 128;
inline constexpr std::size_t longest_state_value = 64u << 10;
inline constexpr std::size_t most_state_keys = 256;
inline constexpr std::size_t most_state_bytes = 1u << 20;

/// Keys that begin so are Riffle's own, such as a session's title: tools read
/// them, and neither set nor remove any.
inline constexpr std::string_view own_state_prefix = "session_";

/// Key -> JSON text. In changes an empty text removes the key.
using state_values = std::map<std::string, std::string>;

/// `value` as it is kept, or why it may not be added to `now`: an
/// `invalid_request` that names the limit. Null removes: an empty text.
expected<std::string> check_state(const state_values& now, std::string_view key,
                                  const nlohmann::json& value);

void apply_state(state_values& to, const state_values& changes);

/// What one call sees: the session's values as they were when a worker got it,
/// with its own changes over them. Thread-safe.
class call_state {
 public:
  explicit call_state(state_values session = {})
      : session_{std::move(session)} {}

  [[nodiscard]] std::optional<nlohmann::json> get(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::map<std::string, nlohmann::json> all() const;
  /// Null removes the key. Fails as `check_state`, and for Riffle's own keys.
  expected<void> set(std::string_view key, const nlohmann::json& value);

  /// Removes every key but Riffle's own. Only values go: what the run
  /// publishes, and the call's own progress, stay as they are.
  void reset();

  /// As JSON texts: what it sees, and what it changed.
  [[nodiscard]] state_values values() const;
  [[nodiscard]] state_values changes() const;

 private:
  [[nodiscard]] state_values now() const;

  const state_values session_;
  mutable std::mutex mutex_;
  state_values changes_;
};

}  // namespace riffle::tools
