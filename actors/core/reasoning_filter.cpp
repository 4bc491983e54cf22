// SPDX-License-Identifier: MIT
#include "actors/core/reasoning_filter.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

void reasoning_filter::apply(piece_list& x) {
  piece_list kept;
  bool removed = false;
  std::size_t index = 0;
  x.for_each([&](piece_kind kind, std::string_view text) {
    const bool again =
        kind == piece_kind::reasoning ? repeats(text) : end_block(text);
    if (again && !removed) {
      removed = true;
      kept.bytes.assign(x.bytes, 0,
                        static_cast<std::size_t>(text.data() - x.bytes.data()));
      kept.pieces.assign(x.pieces.begin(),
                         x.pieces.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (!again && removed) {
      kept.add(kind, text);
    }
    ++index;
  });
  if (removed) x = std::move(kept);
}

/// The piece is a whole block of this turn once more; else it joins its block.
bool reasoning_filter::repeats(std::string_view text) {
  if (text.size() >= shortest) {
    block whole;
    append(whole, text);
    // A piece that comes twice in a row may be the model's own.
    const bool is_open = open_pieces_ > 1 && whole == open_;
    if (is_open || std::ranges::find(ended_, whole) != ended_.end())
      return true;
  }
  append(open_, text);
  ++open_pieces_;
  return false;
}

/// Text that is no reasoning ends the block; it is never a repetition.
bool reasoning_filter::end_block(std::string_view text) {
  if (open_.size == 0 || text.empty()) return false;
  ended_[next_++ % ended_.size()] = std::exchange(open_, {});
  open_pieces_ = 0;
  return false;
}

void reasoning_filter::append(block& to, std::string_view text) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char c : text)
    to.digest = (to.digest ^ static_cast<unsigned char>(c)) * prime;
  to.size += text.size();
}

}  // namespace riffle::core
