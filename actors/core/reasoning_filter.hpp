// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "messages/turn.hpp"

namespace riffle::core {

/// Some providers send a block of reasoning in pieces and then once more as a
/// whole. Removes the repetition. It knows a block by its length and a digest
/// and remembers the last few of a turn, so its memory does not grow. A block
/// that comes once more in pieces is not recognised.
class reasoning_filter {
 public:
  /// Shorter ones may well be said twice.
  static constexpr std::size_t shortest = 32;

  /// Removes the repetitions from `x`; pieces of one turn, in order.
  void apply(piece_list& x);

 private:
  struct block {
    std::uint64_t digest = seed;
    std::size_t size = 0;
    bool operator==(const block&) const = default;
  };

  static constexpr std::uint64_t seed = 0xcbf29ce484222325;  ///< FNV-1a, 64 bit

  static void append(block& to, std::string_view text) noexcept;
  bool repeats(std::string_view text);
  bool end_block(std::string_view text);

  block open_;
  std::size_t open_pieces_ = 0;
  std::array<block, 8> ended_{};
  std::size_t next_ = 0;
};

}  // namespace riffle::core
