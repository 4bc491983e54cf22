// SPDX-License-Identifier: MIT
#pragma once

// What gitignore(5) says, for one file of rules. Pure. Compared with git
// itself by tests, also in what its manual leaves open.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/builtin/search/glob_pattern.hpp"

namespace riffle::tools {

enum class verdict : std::uint8_t { none, ignored, included };

/// The rules of one .gitignore (or .git/info/exclude).
class ignore_rules {
 public:
  /// Lines beyond `most_rules` do not count.
  static constexpr std::size_t most_rules = 10'000;

  ignore_rules() = default;
  explicit ignore_rules(std::string_view text);

  /// `path`: relative to the folder of the rules. The last rule that matches
  /// decides. Says nothing about folders above: who walks does not enter an
  /// ignored folder, so that nothing in it can be included again.
  [[nodiscard]] verdict of(std::string_view path, bool folder) const;

  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

 private:
  struct rule {
    bool negated = false;
    bool folders_only = false;
    bool name_only = false;  ///< no "/" in it: matches at any depth
    std::string begin;       ///< plain characters before the pattern
    bool plain = false;      ///< nothing but `begin`
    glob_pattern pattern;
  };

  void add(std::string_view line);
  [[nodiscard]] static bool matches(const rule& x, std::string_view path);

  std::vector<rule> rules_;
};

}  // namespace riffle::tools
