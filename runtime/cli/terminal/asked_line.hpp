// SPDX-License-Identifier: MIT
#pragma once

// A line that answers a question, written with the keys of every other text.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/line_editor.hpp"
#include "runtime/cli/terminal/settled_width.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

/// On a terminal that can erase. What stands behind the Enter is left to who
/// reads the keyboard next.
class asked_line {
 public:
  static constexpr std::size_t longest = 8192;

  asked_line(std::string question, int keyboard, console& io);
  ~asked_line();
  asked_line(const asked_line&) = delete;
  asked_line& operator=(const asked_line&) = delete;

  /// Asks, and again once the process was stopped and goes on: a shell has
  /// written below the question then, and what came with `fg` was typed for it.
  /// What was typed before stands in the answer still.
  /// Nothing: the keyboard is closed, or `stopped`.
  std::optional<std::string> read(const std::function<bool()>& stopped);

 private:
  enum class said : std::uint8_t { nothing, line, none };

  void ask();
  void ask_again();
  said read_key();
  said on(const key& x);
  void take(const key& x);
  [[nodiscard]] editor_picture picture() const;
  void draw();
  [[nodiscard]] std::string erasure() const;
  [[nodiscard]] bool went_on() const { return times_continued() != seen_; }

  const std::string question_;
  const int keyboard_;
  console& io_;
  terminal_mode mode_;
  key_reader keys_;
  line_editor editor_;
  std::string prompt_;    ///< the last row of the question
  editor_picture drawn_;  ///< as it stands there
  std::size_t columns_ = 0;
  settled_width width_;
  int seen_ = 0;  ///< see `times_continued`
  /// An Enter before that, and alone, came with `fg`.
  time_point answers_from_{};
};

}  // namespace riffle::cli
