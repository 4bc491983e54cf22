// SPDX-License-Identifier: MIT
#pragma once

// Patterns of schemas (ECMAScript, as JSON Schema has them), compiled once.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace riffle::tools {

/// Whether a text contains what a pattern says, in characters of UTF-8.
/// Thread-safe. RE2 does it, in time linear in the text, as patterns and texts
/// come from outside; what RE2 does not take (look-ahead) goes to libstdc++'s
/// matcher without backtracking, in texts of at most `longest_looked_at` bytes:
/// a longer one does not match.
class schema_pattern {
 public:
  static constexpr std::size_t longest_looked_at = 16u << 10;

  /// Refuses what is no pattern, longer than 512 bytes, or needs backtracking
  /// (back references).
  static tl::expected<schema_pattern, std::string> compile(
      std::string_view text);

  [[nodiscard]] bool found_in(std::string_view text) const;

  /// Whether RE2 does it.
  [[nodiscard]] bool linear() const noexcept;

 private:
  struct engine;
  explicit schema_pattern(std::shared_ptr<const engine> x);
  std::shared_ptr<const engine> engine_;
};

/// By their texts.
using schema_patterns = std::map<std::string, schema_pattern, std::less<>>;

}  // namespace riffle::tools
