// SPDX-License-Identifier: MIT
#pragma once

// Long texts that were pasted. In the text that is edited a mark stands for
// each of them, which is one character: it is moved over and removed as one,
// and shown as "[pasted text, 10,000 lines]". Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

class pasted_texts {
 public:
  /// So many stay; what is more is no piece.
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

  std::vector<piece> all_;
};

}  // namespace riffle::cli
