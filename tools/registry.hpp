// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// Arguments of a call, checked.
struct checked_arguments {
  nlohmann::json value;  ///< an object, valid for the schema
  std::string text;      ///< compact, keys in the order in which they came
};

/// Arguments as compact text, whatever their tool; empty: they are no one JSON
/// object that every reader takes for the same. Keys stay in their order: a
/// model gets its calls back as it wrote them.
std::string compact_arguments(std::string_view text);

/// Whether two texts are the same arguments, in whatever order.
[[nodiscard]] bool are_same_arguments(std::string_view a, std::string_view b);

/// Arguments that may be any object; blank text counts as `{}`. Fails with
/// `invalid_arguments`, see `registry::check`.
[[nodiscard]] expected<checked_arguments> any_arguments(
    std::string_view name, std::string_view arguments_text);

/// The tools of a process, with their schemas compiled once. Immutable after
/// start-up, thread-safe then.
class registry {
 public:
  registry();
  ~registry();
  registry(registry&&) noexcept;
  registry& operator=(registry&&) noexcept;

  /// Fails with `invalid_config` when it is null, the name is taken or
  /// ill-formed, or the schema is no valid JSON Schema of an object.
  expected<void> add(tool_ptr x);

  /// Null if there is none.
  [[nodiscard]] const tool_ptr* find(std::string_view name) const noexcept;

  /// Names in order.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Parses and validates the arguments that a model sent. Empty or blank
  /// text counts as `{}`. Errors are `tool_not_found` (naming close names) or
  /// `invalid_arguments`; their message tells the model what is wrong, where
  /// (JSON pointer), and what is allowed.
  [[nodiscard]] expected<checked_arguments> check(
      std::string_view name, std::string_view arguments_text) const;

 private:
  struct entry;
  std::map<std::string, std::unique_ptr<entry>, std::less<>> tools_;
};

}  // namespace riffle::tools
