// SPDX-License-Identifier: MIT
#pragma once

// Long texts that were pasted. In the text that is edited a mark stands for
// each of them, which is one character: it is moved over and removed as one,
// and shown as "[pasted text, 10,000 lines]". Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace riffle::cli {

class pasted_texts {
 public:
  /// So many at once; what is more is no piece.
  static constexpr std::size_t most = 10'000;

  /// Whether a text is worth a mark: more than a screen needs to see.
  static bool is_long(std::string_view text);

  /// Whether a mark begins with this byte; no other text has it.
  static bool begins_mark(char c) { return c == '\xF4'; }
  static constexpr std::size_t mark_size = 4;

  /// Of a text that a person typed: nothing in it is a mark.
  static std::string without_marks(std::string_view text);

  /// The mark of a text that is kept from now on; empty: there is no room.
  /// `left_out`: bytes of the paste that are not in it.
  std::string keep(std::string text, std::size_t left_out = 0);

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// The code points of the marks in a text.
  static void add_marks(std::string_view text, std::set<std::uint32_t>& out);
  /// Those that have none of these marks are no more kept: theirs mean nothing
  /// from now on, and stand for another text only after all others have been
  /// given.
  void release_all_but(const std::set<std::uint32_t>& marks);

  /// What a text with marks means, as a program reads it, and as a person does.
  [[nodiscard]] std::string whole(std::string_view text) const;
  [[nodiscard]] std::string shown(std::string_view text) const;
  [[nodiscard]] std::size_t whole_size(std::string_view text) const;

 private:
  struct piece {
    std::string text;
    std::size_t left_out = 0;
  };

  static std::string label_of(const piece& x);
  [[nodiscard]] const piece* of(std::string_view mark) const;
  template <class Take>
  void each(std::string_view text, Take take) const;

  std::map<std::uint32_t, piece> all_;  ///< by the code points of their marks
  std::uint32_t next_ = 0;
};

}  // namespace riffle::cli
