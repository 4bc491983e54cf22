// SPDX-License-Identifier: MIT
#pragma once

// What a terminal shows while a run works: trace lines, the live text of the
// model, and below them one status line that is drawn over and over. Pure:
// bytes come out, width and time go in.
//
// The status line is written from the first column and the cursor returns to
// it, so that "erase to the end of the screen" removes it also when the
// terminal became narrower and wrapped it. Below an open line of text the
// cursor returns behind the text, which goes on there as if nothing had been
// drawn.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/time.hpp"

namespace riffle::cli {

/// Bytes for one of the two outputs, in order.
struct screen_write {
  bool to_out = false;  ///< standard output, else standard error
  std::string bytes;

  bool operator==(const screen_write&) const = default;
};

using screen_writes = std::vector<screen_write>;

/// Where the cursor stands: in the first column of nothing, of a status line,
/// or in an open line of text, with a status line below it or none.
enum class cursor_place : std::uint8_t { clean, status, text, above_status };

class screen {
 public:
  /// Shortest time between two drawings of the status line.
  static constexpr duration between_drawings = std::chrono::milliseconds{100};
  /// The same where text has taken it away.
  static constexpr duration behind_text = std::chrono::milliseconds{10};

  /// `has_status`: standard error is a terminal that can erase. `shared`:
  /// both outputs are seen in one place, so that one's open line is ended
  /// before the other writes.
  explicit screen(bool has_status, bool shared = true)
      : has_status_{has_status}, shared_{shared} {}

  /// Whole lines for standard error.
  screen_writes lines(std::string_view text);

  /// Live text for standard output; it may end inside a line.
  screen_writes text(std::string_view piece);

  [[nodiscard]] cursor_place cursor() const noexcept {
    if (drawn_)
      return below_text_ ? cursor_place::above_status : cursor_place::status;
    return shared_ && open_line_ ? cursor_place::text : cursor_place::clean;
  }

  /// A line of live text is open.
  [[nodiscard]] bool in_text() const noexcept { return open_line_; }

  /// Ends the line of live text that is open, if one is.
  screen_writes end_text();
  /// The same where text and status share a terminal: what goes elsewhere is
  /// not broken for who looks at this one.
  screen_writes leave_line();

  /// Draws `status`, lines with '\n' between them and fewer than the terminal
  /// has, if it is time. An open line of text stands above it, and goes on;
  /// `busy`: it is worth ending that line where nobody can tell whether its
  /// row of so many `columns` is full.
  screen_writes draw(std::string_view status, bool busy, time_point now,
                     std::size_t columns);

  /// Something of the status line changed that a person waits for.
  void hurry() noexcept { owed_ = true; }

  /// Whether it is time to draw.
  [[nodiscard]] bool due(time_point now) const;

  /// Removes the status line.
  screen_writes clear();

 private:
  void erase(screen_writes& out);
  void break_text(screen_writes& out);
  void remember(std::string_view piece);
  [[nodiscard]] bool may_fill_row(std::size_t columns) const;

  bool has_status_;
  bool shared_;
  bool drawn_ = false;
  bool below_text_ = false;  ///< and the cursor stands behind that text
  std::string line_;         ///< of live text, as far as it is open
  bool open_line_ = false;   ///< of live text
  bool owed_ = false;        ///< it is to be drawn soon
  std::optional<time_point> last_drawing_;
};

}  // namespace riffle::cli
