// SPDX-License-Identifier: MIT
#pragma once

// What a program writes: on its way to a terminal, and what stays there.

#include <cstddef>
#include <string>
#include <string_view>

namespace riffle::cli {

/// For views of what a TOOL wrote: behind a '\r' a row is written over, as
/// progress is, and colours are left out. A row is as long as it is. The model
/// reads the raw text, so that the rest is kept, titles and links, too: pass it
/// on to `safe_text`, which spells them.
std::string settled_lines(std::string_view output);

/// For the model, of what a person saw of a `!COMMAND`: what `safe_output` has
/// shown on a terminal of so many columns (0: rows never wrap), as it stands
/// there in the end, spelled as it is there. Titles and links are left out as
/// they were there. A row that was wrapped is one line; tabs of rows that were
/// not written over are tabs.
std::string seen_lines(std::string_view output, std::size_t columns);

/// The most bytes of a sequence that is left out, a title's or a link's.
inline constexpr std::size_t longest_sequence = 512;

/// Bytes at the end of a piece that may be the beginning of a sequence, or of a
/// character.
std::size_t begun_output(std::string_view piece);

/// The first place from `at` on that is within no sequence and no character, as
/// far as one can see from `longest_sequence` bytes before.
std::size_t whole_from(std::string_view text, std::size_t at);

/// A program's output as it comes, in pieces, for a terminal: as `safe_text`,
/// but a '\r' goes to the beginning of the row, what erases a row does so,
/// colours are colours, where there are any, and titles, links and the cursor's
/// look are left out. Nothing is concealed, and characters that nobody sees are
/// \u{NNNN}: a model reads them. Blanks are as they are, and so is text in the
/// colour of its ground.
class safe_output {
 public:
  explicit safe_output(bool color) : color_{color} {}
  std::string on(std::string_view piece);
  /// What was held, since more of it might have come; colours end.
  std::string end();

 private:
  std::string spelled(std::string_view part);

  bool color_;
  bool colored_ = false;
  std::string held_;
  std::string before_;  ///< the end of the text that the next piece goes on
};

}  // namespace riffle::cli
