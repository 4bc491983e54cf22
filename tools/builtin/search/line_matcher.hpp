// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace riffle::tools {

/// A regular expression (RE2: time linear in the text, for patterns come from
/// a model) that looks into single lines.
class line_matcher {
 public:
  struct options {
    bool case_insensitive = false;
    bool literal = false;  ///< the pattern is plain text
  };

  /// The error tells the model what is wrong.
  static tl::expected<line_matcher, std::string> make(std::string_view pattern,
                                                      options x);
  ~line_matcher();
  line_matcher(line_matcher&&) noexcept;
  line_matcher& operator=(line_matcher&&) noexcept;

  /// Whether it matches in `text` between `begin` and `end`; what lies around
  /// is only looked at for `^`, `$` and `\b`.
  [[nodiscard]] bool matches(std::string_view text, std::size_t begin,
                             std::size_t end) const;

  /// Where the first match begins.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view text,
                                                std::size_t begin,
                                                std::size_t end) const;

 private:
  struct engine;
  explicit line_matcher(std::unique_ptr<engine> x);
  std::unique_ptr<engine> engine_;
};

}  // namespace riffle::tools
