// SPDX-License-Identifier: MIT
#pragma once

// How the terminal hands over what is typed.

#include <cstdint>
#include <string_view>
#include <termios.h>

namespace riffle::cli {

enum class typing_mode : std::uint8_t {
  lines,  ///< as it was found: whole lines, echoed, Ctrl-C is a signal
  keys,   ///< key by key, without echo; Ctrl-C is a signal that throws no
          ///< other key away
  raw,    ///< and Ctrl-C is a key
  quiet,  ///< as `lines` without echo: for who draws, and reads nothing. A
          ///< Ctrl-C throws away what was typed, and nothing that was drawn
  lent,   ///< as `lines`; a Ctrl-C or Ctrl-Z throws nothing away
};

/// The terminal is as it was found once the object is gone, also after a second
/// Ctrl-C (see interrupts.hpp) and a signal that nobody catches. One within the
/// life of another one begins, and ends, while that reads lines.
class terminal_mode {
 public:
  /// Does not own `fd`.
  explicit terminal_mode(int fd);
  ~terminal_mode();
  terminal_mode(const terminal_mode&) = delete;
  terminal_mode& operator=(const terminal_mode&) = delete;

  /// Also what was set already, if the process was stopped since then (Ctrl-Z):
  /// a shell sets the terminal in its own way. `lines` and `quiet` leave it to
  /// whose it is while this process is in the background.
  void set(typing_mode x);
  [[nodiscard]] typing_mode now() const noexcept { return now_; }

 private:
  int fd_;
  bool known_ = false;
  termios found_{};
  int outer_ = -1;  ///< terminal of the one around it
  typing_mode now_ = typing_mode::lines;
  int seen_ = 0;  ///< see `times_continued`
};

/// Whether this process may read from its terminal and set it, as far as that
/// can be told.
bool is_in_foreground(int fd) noexcept;

/// How often this process was stopped and goes on, since the first mode was
/// set, or the first `count_continues`: then what stood on the screen may stand
/// there no more.
int times_continued() noexcept;
void count_continues() noexcept;

/// What a process that ends at once does with the line of the cursor.
enum class leaving : std::uint8_t {
  nothing,
  erases,
  ends_line,
  ends_line_erases
};

/// From now on, on standard error.
void leave_screen_with(leaving x) noexcept;

/// The title that a terminal has kept.
inline constexpr const char* title_of_before = "\x1b[23;2t";
/// One was kept, or came back: a process that ends at once brings back all.
void leave_title(bool changed) noexcept;

/// What such a process says last, below all else; empty: nothing. At most 160
/// bytes.
void leave_with_words(std::string_view x) noexcept;

/// For the handler of a signal that a key sent: throws away what was typed
/// where `quiet` is set. A terminal that does so by itself (termios(3), without
/// NOFLSH) throws away what was drawn, too, in the middle of a row.
void forget_what_was_typed() noexcept;

/// For a signal handler that ends the process: the terminal as it was found,
/// the cursor on an empty line.
void leave_terminal() noexcept;

}  // namespace riffle::cli
