// SPDX-License-Identifier: MIT
#pragma once

// Shell-like patterns for paths. Pure: no look at the disk.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace riffle::tools {

/// One pattern, compiled. Matches in time linear in the text (a set of
/// states, never backtracking), for patterns come from models and files.
///
///   *       any characters but "/"      ?      one character but "/"
///   **      as a whole part of a path: any folders, also none
///   [a-z] [!a] [[:alpha:]]  one character, never "/"
///   \x      x itself
class glob_pattern {
 public:
  enum class units : std::uint8_t {
    characters,  ///< UTF-8; a byte that is not counts as a character
    bytes,       ///< as git does it
  };

  explicit glob_pattern(std::string_view pattern, units x = units::characters);

  /// Whether it matches the whole of `path`.
  [[nodiscard]] bool matches(std::string_view path) const;

  /// Whether it may match something in `folder` ("" is the top).
  [[nodiscard]] bool may_match_in(std::string_view folder) const;

  /// A pattern that can match nothing, e.g. with a "[" that is never closed.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  enum class kind : std::uint8_t { one, any, set, star, all, folders };
  using range = std::pair<char32_t, char32_t>;
  struct token {
    kind what = kind::one;
    char32_t unit = 0;
    bool negated = false;
    std::vector<range> ranges;
  };
  using states = std::vector<char>;

  void parse(const std::u32string& text);
  void parse_star(const std::u32string& text, std::size_t& i);
  bool parse_set(const std::u32string& text, std::size_t& i);
  [[nodiscard]] states begin() const;
  void settle(states& now) const;
  [[nodiscard]] bool step(states& now, char32_t unit) const;
  [[nodiscard]] static bool takes(const token& x, char32_t unit);

  units units_;
  bool broken_ = false;
  std::vector<token> tokens_;
};

}  // namespace riffle::tools
