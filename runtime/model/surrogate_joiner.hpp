// SPDX-License-Identifier: MIT
#pragma once

// Some servers cut a text between the two escapes of one character
// (`\ud83d` and `\ude00`) and send each half in a delta of its own.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "messages/turn.hpp"

namespace riffle::model {

/// What stands for half a character in a text that is valid UTF-8: private
/// characters, which are told from real ones by whoever asks for them.
namespace halves {

/// `unit` is a surrogate.
void append(unsigned unit, std::string& to);
/// The surrogate that stands at the begin of a text, or nothing.
std::optional<unsigned> first(std::string_view text) noexcept;
/// The text with the half that waits in front of it; what waits behind it. What
/// stands alone within is U+FFFD.
std::string settled(std::string_view text, std::optional<unsigned>& waits);
/// All of a text, in which halves that stand together are joined.
std::string joined(std::string_view text);
/// Bytes of one.
inline constexpr std::size_t length = 4;

}  // namespace halves

/// Halves that wait for the next delta of a text, by the text's `Key`.
template <class Key>
class waiting_halves {
 public:
  /// `text`: a delta of it; `has_halves`: halves may stand in it.
  std::string join(const Key& key, std::string text, bool has_halves) {
    const auto at = waits_.find(key);
    if (!has_halves && at == waits_.end()) return text;
    std::optional<unsigned> half;
    if (at != waits_.end()) {
      half = at->second;
      waits_.erase(at);
    }
    auto out = halves::settled(text, half);
    if (half) waits_[key] = *half;
    return out;
  }
  [[nodiscard]] bool any() const noexcept { return !waits_.empty(); }
  /// Nothing follows; whether a half has waited, which is none then.
  bool give_up(const Key& key) { return waits_.erase(key) > 0; }

 private:
  std::map<Key, unsigned> waits_;
};

/// How far a delta had come before a chunk was read into it.
struct delta_mark {
  explicit delta_mark(const turn_delta& x)
      : bytes{x.pieces.bytes.size()},
        pieces{x.pieces.pieces.size()},
        fragments{x.fragments.size()} {}
  std::size_t bytes;
  std::size_t pieces;
  std::size_t fragments;
};

/// Joins halves of one text over its deltas: of text, reasoning, refusal, and
/// of each call's arguments. A half that stays alone becomes one U+FFFD.
class surrogate_joiner {
 public:
  /// What came since the mark; with halves in it, or while one waits.
  void join(turn_delta& x, const delta_mark& since);
  /// Nothing follows.
  void finish(turn_delta& x);
  [[nodiscard]] bool waits() const noexcept {
    return !pieces_.empty() || !calls_.empty();
  }

 private:
  /// The call of a fragment: its index, or else its id.
  using call_key = std::pair<std::optional<std::uint32_t>, std::string>;

  void join_pieces(turn_delta& x, const delta_mark& since);
  void join_fragment(call_fragment& x);

  std::map<piece_kind, unsigned> pieces_;
  std::map<call_key, unsigned> calls_;
};

}  // namespace riffle::model
