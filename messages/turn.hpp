// SPDX-License-Identifier: MIT
#pragma once

// What a model's half of a step consists of, whatever the provider's dialect.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/usage.hpp"

namespace riffle {

/// Why the model stopped. Only `stop` and `tool_calls` are safe finishes:
/// after any other no mutating call of the turn may start.
enum class finish_reason : std::uint8_t {
  stop,
  tool_calls,
  length,
  content_filter,
  /// The end mark came without any finish reason: text and read-only calls
  /// count, mutating calls settle as `truncated`.
  missing,
  /// The provider wants to go on with the turn as it is: asked once more, with
  /// all that came, it does.
  paused,
};

std::string_view to_string(finish_reason x) noexcept;

[[nodiscard]] constexpr bool is_safe(finish_reason x) noexcept {
  return x == finish_reason::stop || x == finish_reason::tool_calls;
}

/// One fragment of a tool call as a dialect's decoder sees it; the tolerant
/// accumulator (`actors/core/tool_call_assembler.hpp`) makes calls of them.
struct call_fragment {
  std::uint32_t choice = 0;
  std::optional<std::uint32_t> index;
  std::string id;         ///< empty: not sent
  std::string name;       ///< empty: not sent
  std::string arguments;  ///< to append; serialised if it came as an object
  bool arguments_whole = false;  ///< it came as a JSON object, not as text
  bool closes = false;           ///< the dialect marks the end of this call

  bool operator==(const call_fragment&) const = default;
};

enum class piece_kind : std::uint8_t { text, reasoning, refusal };

/// Visible pieces of one network read, in order, in one buffer.
struct piece_list {
  struct piece {
    piece_kind kind = piece_kind::text;
    std::uint32_t end = 0;  ///< one past its last byte in `bytes`

    bool operator==(const piece&) const = default;
  };

  std::string bytes;  ///< UTF-8
  std::vector<piece> pieces;

  void add(piece_kind kind, std::string_view text) {
    bytes.append(text);
    pieces.push_back({kind, static_cast<std::uint32_t>(bytes.size())});
  }
  [[nodiscard]] bool empty() const noexcept { return pieces.empty(); }
  /// Calls `f(kind, text)` for each piece in order.
  template <class F>
  void for_each(F f) const {
    std::uint32_t begin = 0;
    for (const auto& p : pieces) {
      f(p.kind, std::string_view{bytes}.substr(begin, p.end - begin));
      begin = p.end;
    }
  }

  bool operator==(const piece_list&) const = default;
};

/// What a decoder understood from some bytes.
struct turn_delta {
  piece_list pieces;
  std::vector<call_fragment> fragments;
  std::optional<finish_reason> finish;  ///< the last one seen
  std::optional<token_usage> usage;     ///< the last one seen
  std::optional<error> failure;         ///< the provider reported an error
  /// See `turn_state::text`; all of the turn so far, where it is not empty.
  std::string state;
  bool done = false;  ///< the dialect's end mark came
  bool operator==(const turn_delta&) const = default;
};

}  // namespace riffle
