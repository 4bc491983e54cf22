// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "tools/builtin/search/line_search.hpp"
#include "tools/builtin/search/match_report.hpp"

namespace riffle::tools {

enum class grep_mode : std::uint8_t { lines, files, count };

/// Makes the text of `grep`'s result, of bounded size, as grep -n writes it:
/// "path:12:text", and "path-11-text" for lines around.
class grep_output {
 public:
  struct limits {
    grep_mode mode = grep_mode::lines;
    std::uint64_t context = 0;  ///< lines before and after a match
    std::uint64_t shown = 0;    ///< most matching lines, or files
    std::size_t bytes = 0;      ///< most bytes of text
  };

  grep_output(limits x, match_report& report) : limits_{x}, report_{report} {}

  void begin_file(const std::string& path);
  /// False: no more of this file is needed.
  bool add(const line_search::line& x);
  void end_file();

  /// Something did not fit: from here on it only counts.
  [[nodiscard]] bool full() const noexcept { return full_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Matching lines; of mode `files` the files.
  [[nodiscard]] std::uint64_t matches() const noexcept { return matches_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  /// Lines (of mode `lines`) or files that the text shows.
  [[nodiscard]] std::uint64_t shown() const noexcept { return shown_; }

 private:
  struct kept {
    std::uint64_t number = 0;
    std::string text;
  };

  bool put(std::string_view line);
  [[nodiscard]] std::string rendered(char mark, std::uint64_t number,
                                     std::string_view text) const;
  void show_match(const line_search::line& x);
  void show_around(const line_search::line& x);

  limits limits_;
  match_report& report_;
  std::string text_;
  bool full_ = false;
  std::uint64_t matches_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t shown_ = 0;

  std::string path_;           ///< of the file, to show
  std::uint64_t in_file_ = 0;  ///< matches in it
  std::uint64_t last_ = 0;     ///< number of the last line shown of it
  std::uint64_t after_ = 0;    ///< lines still to show after a match
  std::deque<kept> before_;    ///< the last lines, not shown yet
};

}  // namespace riffle::tools
