// SPDX-License-Identifier: MIT
#pragma once

// A text that a person writes at a prompt: editing by what people see as
// characters, several lines, history. Pure: keys in, a picture out.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/terminal/keys.hpp"
#include "runtime/cli/terminal/pasted_texts.hpp"

namespace riffle::cli {

/// What a key came to beside the text.
enum class editor_event : std::uint8_t {
  none,
  submitted,  ///< `take` has the text
  interrupted,
  end_of_input,  ///< Ctrl-D in an empty text
  complete,      ///< Tab: the word before the cursor
  redraw,
  edit,  ///< the text shall be opened in an editor
  full,  ///< there is no room for all of it: it was left out
};

/// Rows to be written from the first column, and where the cursor belongs.
struct editor_picture {
  std::vector<std::string> rows;
  std::size_t cursor_row = 0;
  std::string before_cursor;  ///< of its row

  bool operator==(const editor_picture&) const = default;
};

class line_editor {
 public:
  static constexpr std::size_t longest_text = 4u << 20;
  /// Of what was typed before, and bytes of that; the newest stays in any case.
  static constexpr std::size_t most_entries = 1000;
  static constexpr std::size_t most_kept = 8u << 20;

  line_editor() = default;
  /// A long paste is one piece in it, see `pasted_texts`.
  static line_editor with_pieces();

  editor_event on(const key& x);

  /// Puts harmless text (see safe_text) at the cursor; what is too much is
  /// left out.
  void insert(std::string_view text);
  /// In the place of the last `size` bytes before the cursor.
  void replace_before(std::size_t size, std::string_view text);

  /// The whole text; the editor is empty then, and its history knows it.
  std::string take() { return whole(take_marked()); }
  /// The same with marks instead of pieces: what `give` takes.
  std::string take_marked();
  [[nodiscard]] std::string whole(std::string_view marked) const {
    return pieces_.whole(marked);
  }
  /// As a person sees it.
  [[nodiscard]] std::string shown(std::string_view marked) const {
    return pieces_.shown(marked);
  }
  /// Puts a text that was taken before what stands there, in a line of its own.
  void give(const std::string& marked);
  void clear();
  /// In the place of the whole text.
  void replace(std::string_view text);

  /// Oldest first; repeats of the last are left out. What is very long becomes
  /// one piece, where there are such.
  void remember(std::string text);
  /// Frees the pieces that neither this editor nor any of these texts, which
  /// were taken, refers to.
  void release_pieces(std::span<const std::string* const> taken);
  [[nodiscard]] std::deque<std::string> history() const;

  /// With a mark for each piece.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::size_t cursor() const noexcept { return cursor_; }
  [[nodiscard]] std::string before_cursor() const {
    return text_.substr(0, cursor_);
  }
  /// Keys are those of a search in the history.
  [[nodiscard]] bool searches() const noexcept { return search_.has_value(); }

  /// At most `rows` rows of at most `columns` columns, around the cursor.
  /// `prompt` stands before the first line, blanks before the others.
  [[nodiscard]] editor_picture draw(std::string_view prompt,
                                    std::size_t columns,
                                    std::size_t rows) const;
  /// The same of a text that was taken, as it stood there at its end.
  [[nodiscard]] std::vector<std::string> draw_taken(const std::string& marked,
                                                    std::string_view prompt,
                                                    std::size_t columns,
                                                    std::size_t rows);

 private:
  [[nodiscard]] std::size_t before(std::size_t at) const;
  [[nodiscard]] std::size_t behind(std::size_t at) const;
  [[nodiscard]] std::size_t line_start() const;
  [[nodiscard]] std::size_t line_end() const;
  [[nodiscard]] std::size_t word_before() const;
  [[nodiscard]] std::size_t word_behind() const;
  void erase(std::size_t from, std::size_t to);
  void cut(std::size_t from, std::size_t to);
  void undo();
  void keep_for_undo(const key& x, std::string text, std::size_t cursor);
  editor_event act(const key& x);
  void put(std::string_view marked);
  editor_event type(const key& x);
  [[nodiscard]] std::string seen_of(std::string_view character) const;
  editor_event enter();
  void vertical(bool up);
  void recall(std::size_t entry);
  bool move(key_kind x);
  bool change(key_kind x);
  editor_event on_search(const key& x);
  void find_before(std::size_t entry);
  [[nodiscard]] std::string search_head() const;

  bool has_pieces_ = false;
  pasted_texts pieces_;
  std::string text_;
  std::size_t cursor_ = 0;
  std::deque<std::string> history_;
  std::size_t kept_ = 0;   ///< bytes of it, with what its marks stand for
  std::size_t entry_ = 0;  ///< shown; the size of the history: none
  std::string draft_;      ///< what stood there before the history
  struct earlier {
    std::string text;
    std::size_t cursor = 0;
  };
  std::string cut_;              ///< what was cut out last
  std::deque<earlier> earlier_;  ///< texts before changes, newest last
  bool typing_ = false;          ///< the last change was a typed character
  /// What is looked for in the history, while it is.
  std::optional<std::string> search_;
};

}  // namespace riffle::cli
