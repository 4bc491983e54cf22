// SPDX-License-Identifier: MIT
#pragma once

// What was pressed, from the bytes that a terminal sends. Pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// A sequence may come in two pieces; an ESC that nothing follows for so long
/// is a key of its own.
inline constexpr std::chrono::milliseconds escape_gap{150};
/// So long behind it a sequence does not begin with a character.
inline constexpr std::chrono::milliseconds key_gap{30};

enum class key_kind : std::uint8_t {
  text,   ///< typed or pasted: several characters may come as one
  enter,  ///< Alt-Enter is `line`
  line,   ///< a further line, without an end of the text
  left,
  right,
  up,
  down,
  home,
  end,
  word_left,
  word_right,
  backspace,
  erase,       ///< the character at the cursor
  kill_word,   ///< the word before the cursor
  kill_end,    ///< up to the end of the line
  kill_start,  ///< up to the beginning of the line
  tab,
  interrupt,  ///< Ctrl-C
  end_of_input,
  redraw,
  suspend,  ///< Ctrl-Z, where it is a key
  search,   ///< Ctrl-R: in what was typed before
  yank,     ///< Ctrl-Y: what was cut out last
  undo,     ///< Ctrl-_
  editor,   ///< Ctrl-X Ctrl-E, or Ctrl-G
};

struct key {
  key_kind what = key_kind::text;
  std::string text{};
  bool pasted = false;       ///< by a terminal that marks pastes
  std::size_t left_out = 0;  ///< bytes of the paste behind `text`

  bool operator==(const key&) const = default;
};

/// Keeps what is not whole yet: a character of UTF-8, a sequence, a paste.
class key_reader {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Of one paste; the rest of it is dropped, and counted.
  static constexpr std::size_t longest_paste = 4u << 20;
  /// Behind so much silence in a paste a few bytes are keys: its end is lost.
  static constexpr std::chrono::milliseconds longest_pause{2000};
  /// From the beginning of an answer of the terminal: a person who pressed what
  /// one begins with (Alt-P) types on, so a silence may never come.
  static constexpr std::chrono::milliseconds longest_answer{250};
  static constexpr std::size_t largest_answer = 4096;

  /// Sequences that mean nothing here, and answers of the terminal (OSC, DCS
  /// and their like), are dropped.
  std::vector<key> feed(std::string_view bytes,
                        time_point now = std::chrono::steady_clock::now());

  /// An ESC came, and nothing behind it: a key of its own if nothing follows.
  [[nodiscard]] bool has_escape() const noexcept {
    return reads_ == what::keys && rest_ == "\x1b";
  }
  void drop_escape() { rest_.clear(); }
  /// The same where bytes come so long behind it: whether it was a key of its
  /// own, which is dropped then.
  bool drop_escape_before(std::string_view bytes,
                          std::chrono::nanoseconds later);

 private:
  bool take(std::vector<key>& out);
  bool take_paste(std::vector<key>& out);
  bool take_answer();
  bool take_sequence(std::vector<key>& out);
  void end_lost(std::string_view bytes, time_point now, std::vector<key>& out);
  void keep_pasted(std::size_t size);
  void end_paste(std::vector<key>& out);

  enum class what : std::uint8_t { keys, paste, answer };

  what reads_ = what::keys;
  std::string rest_;
  std::string pasted_;
  std::size_t left_out_ = 0;
  time_point fed_{};
  time_point answer_began_{};
  std::size_t answered_ = 0;  ///< bytes of the answer so far
};

}  // namespace riffle::cli
