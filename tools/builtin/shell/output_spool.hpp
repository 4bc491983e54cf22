// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "messages/call.hpp"
#include "tools/kept_file.hpp"

namespace riffle::tools {

/// Keeps the beginning and the end of a text of any length in bounded memory,
/// and the whole in a file once it is too long. All text is UTF-8.
class output_spool {
 public:
  /// At most about `cap` bytes are kept, half of them for the end.
  /// `file`: of the whole; empty: the middle is lost.
  explicit output_spool(std::size_t cap, std::filesystem::path file = {});

  void append(std::string_view text) { append(text, text); }
  /// `all`: what the text was made of, for the file; it may be longer, and
  /// what belongs to the end of it may come later.
  void append(std::string_view text, std::string_view all);
  /// The text has less than what it was made of: that is wanted in the file,
  /// however short the text is.
  void leaves_out();

  /// The text; if it was too long with a line in the middle that says how
  /// much is left out.
  [[nodiscard]] std::string text() const;

  /// Of all, in the text or not.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t lines() const noexcept;
  /// The text is not all.
  [[nodiscard]] bool truncated() const noexcept {
    return is_too_long() || leaves_out_;
  }
  /// Where all is then.
  [[nodiscard]] const kept_file_writer& whole() const noexcept {
    return whole_;
  }

 private:
  [[nodiscard]] bool is_too_long() const noexcept;
  void spill();

  std::size_t half_;
  std::string head_;
  std::string tail_;  ///< up to twice `half_` long, then shortened
  std::string all_;   ///< while it is not in the file
  std::uint64_t bytes_ = 0;
  std::uint64_t passed_ = 0;  ///< bytes of the text and its middle
  std::uint64_t line_ends_ = 0;
  bool open_line_ = false;
  bool spilled_ = false;
  bool leaves_out_ = false;
  kept_file_writer whole_;
};

/// Passes a stream of UTF-8 on, and leaves out what nobody would read of rows
/// that are written over again and again, as progress bars are. States of a
/// row are ended by '\r'; the first few pass, and of those behind them that
/// are alike, but for numbers, units and what bars are made of, only the last
/// one, behind a line that counts the others. All else passes as it is, in
/// whatever pieces it comes.
class row_states {
 public:
  /// States of a row that pass before any is left out.
  static constexpr std::size_t first_states = 3;
  /// A longer state is text, not progress: it passes, in bytes.
  static constexpr std::size_t longest_state = 4096;

  /// Appends what passes to `out`.
  void feed(std::string_view text, std::string& out);
  /// Something else comes, or nothing more: what was held passes.
  void release(std::string& out);
  /// Whether something was left out so far.
  [[nodiscard]] bool left_some_out() const noexcept { return lossy_; }

 private:
  void take(std::string_view part, std::string& out);
  void end_state(std::string& out);
  void pass_last(std::string& out);

  std::size_t states_ = 0;  ///< of this row, that have passed
  bool ended_ = false;      ///< the last byte was a '\r'
  bool long_ = false;       ///< this state passes, since it is long
  std::string last_;        ///< the state before this one, held
  std::string state_;       ///< this one, held
  std::uint64_t left_out_ = 0;
  bool lossy_ = false;
};

/// Makes progress reports of a stream of UTF-8: whole lines, as far as they
/// come; a piece of a line when it is long or nothing follows for a while.
class line_reporter {
 public:
  using sink = std::function<void(tool_progress_report)>;

  /// Longest message of a report, in bytes; the newest part is reported.
  static constexpr std::size_t longest = 4096;

  /// `stream`: "stdout" or "stderr". `report` may be empty.
  line_reporter(std::string stream, const sink& report);

  void append(std::string_view text);

  /// Reports what waits for the end of its line.
  void flush();

 private:
  void report(std::string_view text);

  std::string stream_;
  const sink& report_;
  std::string waiting_;
};

}  // namespace riffle::tools
