// SPDX-License-Identifier: MIT
#pragma once

// Markdown of a model, shown as it streams: pieces in, bytes for a terminal
// out. What was given out is never taken back: a line waits until its kind is
// known, a mark until its other end is there, a table until it is whole. A
// line break stays one. Pure; the text holds no control characters
// (safe_text.hpp).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/markdown/inline_text.hpp"
#include "runtime/cli/markdown/word_wrap.hpp"

namespace riffle::cli {

class markdown {
 public:
  /// Without styles the marks inside of lines stay as they are.
  explicit markdown(bool styled) : styled_{styled} {}

  /// `columns`: of the terminal as it is now.
  std::string on(std::string_view piece, std::size_t columns);

  /// The word that is held, if all marks in it are certain: the text rests. If
  /// it goes on with that word, a row may end within it.
  std::string settle(std::size_t columns);

  /// What is held: something else happens, the text goes on at most in a new
  /// line.
  std::string pause(std::size_t columns);

  /// Something else is about to be shown: a fence that is open is closed on the
  /// screen, and opened again by what follows of it.
  std::string leave_fence(std::size_t columns);

  /// The text ends; the next begins anew.
  std::string finish(std::size_t columns);

  /// Something of a line, or of a table, came whose end did not.
  [[nodiscard]] bool in_line() const {
    return place_ != place::begin || !line_.empty() || !table_.empty();
  }

  /// A blank line came, or nothing: no paragraph, list, table or fence is open.
  [[nodiscard]] bool between_blocks() const {
    return !in_line() && fence_.empty() && (blank_ || !shown_);
  }

  /// What is held is void; the next text begins anew.
  void drop() { *this = markdown{styled_}; }

  /// The cursor stands in the first column, maybe since something else was
  /// written. `below`: it was, and no blank line of the text follows that.
  void broken(bool below);

 private:
  enum class place : std::uint8_t {
    begin,  ///< of a line whose kind is not known
    text,   ///< in a line that is shown as it comes
    whole,  ///< in one that is shown when it is whole
    code,   ///< in a line of code
  };

  void take(std::string_view piece);
  std::string_view take_begin(std::string_view piece);
  std::string_view take_rest(std::string_view piece);
  void decide(bool ended);
  void decide_in_fence(bool ended);
  void begin_text(std::string_view line);
  void end_line();
  void on_whole_line(bool below_text);
  void on_row();
  void open_fence(std::string_view line);
  void close_fence();
  void show_edge();
  void show_in_fence(std::string_view line);
  [[nodiscard]] std::string_view without_indent(std::string_view line) const;
  void end_table();
  void show_blank();
  void show_text(std::string_view text);
  void show(const std::vector<marked_text>& all);
  void show_rule(std::string_view one);
  void show_code(std::string_view text, std::string_view paint = {});
  [[nodiscard]] bool closes_fence(std::string_view line) const;
  [[nodiscard]] std::string_view dim() const;
  [[nodiscard]] std::size_t room() const;

  bool styled_;
  std::size_t columns_ = 0;
  std::string out_;
  place place_ = place::begin;
  std::string line_;  ///< the beginning that is not decided, or to be whole
  inline_text inline_;
  word_wrap words_;
  std::vector<std::string> table_;
  bool has_head_ = true;          ///< of the table
  std::string fence_;             ///< the mark that opened one, or nothing
  std::size_t fence_indent_ = 0;  ///< blanks before that mark
  std::string language_;          ///< of the code in the fence
  bool boxed_ = false;            ///< its first edge stands above, no last one
  std::size_t code_column_ = 0;   ///< of a line of code
  bool blank_ = false;            ///< a blank line is due before what follows
  bool shown_ = false;            ///< something, since the top or a break
  bool titled_ = false;           ///< the last line was a heading
  bool below_text_ = false;       ///< the last line was one of text
  std::uint8_t marks_ = 0;        ///< of the whole line
  bool goes_on_ = false;  ///< a line that was broken: its blanks indent nothing
  bool listed_ = false;   ///< below an item: deep lines are no code
};

}  // namespace riffle::cli
