// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tools/builtin/search/glob_pattern.hpp"

namespace riffle::tools {

/// The alternatives of `{a,b}` written out, also nested ones; `\{` and braces
/// in `[…]` stay. The error says why it cannot be done: a brace that is never
/// closed, or more than `limit` alternatives.
tl::expected<std::vector<std::string>, std::string> expand_braces(
    std::string_view pattern, std::size_t limit);

/// What a model writes as a pattern: `glob_pattern` with `{a,b}`.
class glob_set {
 public:
  /// The error tells the model what is wrong and what to write: for a pattern
  /// that is absolute, holds a part ".." or can match nothing.
  static tl::expected<glob_set, std::string> parse(std::string_view pattern);

  /// `path`: relative, folders with a "/" at their end.
  [[nodiscard]] bool matches(std::string_view path) const;
  /// Whether anything in `folder` ("" is the top) may match.
  [[nodiscard]] bool may_match_in(std::string_view folder) const;

  /// The folder that all matches lie in: "src/a" of "src/a/*.c", else "".
  [[nodiscard]] const std::string& stem() const noexcept { return stem_; }

 private:
  std::vector<glob_pattern> any_of_;
  std::string stem_;
};

}  // namespace riffle::tools
