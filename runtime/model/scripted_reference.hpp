// SPDX-License-Identifier: MIT
#pragma once

// `{{…}}` references in the texts of a script.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace riffle::model {

/// What references can refer to.
struct script_scope {
  std::string task;  ///< the last user message
  /// Tool results of each step before this one, in call order.
  std::vector<std::vector<std::string>> results;
};

/// What is wrong, in words.
using reference_problem = std::string;

/// Nothing if all references of a text are well-formed.
std::optional<reference_problem> check_references(std::string_view text);

/// The text with its references replaced. Fails if one refers to what is not
/// there.
tl::expected<std::string, reference_problem> expand_text(
    std::string_view text, const script_scope& scope);

/// The same for all strings in a value. A string that is one reference with
/// `| value` at its end becomes the JSON value that it refers to.
tl::expected<nlohmann::json, reference_problem> expand_value(
    const nlohmann::json& value, const script_scope& scope);

}  // namespace riffle::model
