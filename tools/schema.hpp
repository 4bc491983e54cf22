// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "tools/schema_pattern.hpp"

namespace riffle::tools {

/// A place in a value that breaks a schema.
struct violation {
  std::string pointer;  ///< JSON pointer; empty: the whole value
  std::string message;  ///< what is wrong there, and what is allowed

  bool operator==(const violation&) const = default;
};

/// A JSON Schema (drafts 4 to 7 as valijson knows them), compiled once.
/// Thread-safe after `compile`. Not checked: `format` (an annotation in the
/// specification), and the keys of an object that has `patternProperties`.
/// Patterns: see `schema_pattern`. A check has a bound: a value against which
/// alternatives that lead back to themselves would be tried again and again is
/// said to be too deep.
class schema {
 public:
  /// Fails, saying why, when `text` is no valid schema of an object.
  static tl::expected<schema, std::string> compile(std::string_view text);

  ~schema();
  schema(schema&&) noexcept;
  schema& operator=(schema&&) noexcept;

  /// Everything that is wrong with `value`, at most ten places; empty: valid.
  [[nodiscard]] std::vector<violation> check(const nlohmann::json& value) const;

 private:
  struct impl;
  explicit schema(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

/// The key that `prepare_schema` moves `pattern` to.
inline constexpr const char* pattern_key = "x-riffle-pattern";
/// The same of `uniqueItems`.
inline constexpr const char* unique_key = "x-riffle-unique";
/// Each schema has it: so that it is counted how often one is tried.
inline constexpr const char* step_key = "x-riffle-step";

struct prepared_schema {
  nlohmann::json root;
  schema_patterns patterns;  ///< all that it has
  std::size_t schemas = 0;   ///< that it has, with its own
};

/// Parses a schema's text, refuses what would make a validator recurse
/// without end, and moves aside what is not left to valijson (see `schema`).
tl::expected<prepared_schema, std::string> prepare_schema(
    std::string_view text);

/// What is wrong with the value at `path` of `root`, in words, as far as
/// the schema's plain keywords say; empty if they find nothing.
std::vector<std::string> explain(const prepared_schema& schema,
                                 const nlohmann::json& root,
                                 const std::vector<std::string>& path);

/// The schema of the value at `path`, as far as plain keywords lead there; null
/// if they do not.
const nlohmann::json* schema_at(const nlohmann::json& root_schema,
                                const nlohmann::json& root,
                                const std::vector<std::string>& path);

}  // namespace riffle::tools
