// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "tools/builtin/search/line_matcher.hpp"

namespace riffle::tools {

/// Looks for a pattern in the lines of a file of any size, read in windows.
/// A line longer than a window is looked at piece by piece: a match of up to
/// `overlap` bytes is found wherever it is. Line ends "\n" and "\r\n".
class line_search {
 public:
  static constexpr std::size_t window = 1u << 20;
  static constexpr std::size_t overlap = 4096;
  /// Longest text given for a line; of a longer one the part with the match.
  static constexpr std::size_t longest_shown = 500;

  struct line {
    std::uint64_t number = 0;  ///< from 1
    bool matched = false;
    std::string_view text;  ///< to show; raw bytes; valid during the call
  };
  struct outcome {
    int error = 0;            ///< an errno; ECANCELED: stopped
    std::uint64_t bytes = 0;  ///< looked at
    bool binary = false;      ///< ended at a NUL byte
    std::uint64_t line = 0;   ///< the one with the NUL byte
  };
  /// Gets matching lines, and all others if `all`. False: no more.
  using sink = std::function<bool(const line&)>;

  line_search(const line_matcher& pattern, bool all, std::stop_token stop);

  /// `alive` is called once a window.
  outcome run(int fd, const sink& to, const std::function<void()>& alive);

 private:
  bool take(std::string_view bytes);
  bool complete(std::string_view text);
  void piece(std::string_view text, bool last);
  bool emit();

  const line_matcher& pattern_;
  bool all_;
  std::stop_token stop_;
  const sink* to_ = nullptr;
  std::string rest_;    ///< a line that is not complete
  std::string shown_;   ///< of a long line
  std::string buffer_;  ///< what `read` fills
  bool long_ = false;   ///< pieces of the line are gone already
  bool hit_ = false;    ///< one of them matched
  std::uint64_t number_ = 1;
};

}  // namespace riffle::tools
