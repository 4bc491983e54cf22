// SPDX-License-Identifier: MIT
#pragma once

// What a model's table must hold that no single key can tell.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/config/document.hpp"

namespace riffle::config {

/// Gets the key below the table, and what is wrong.
using model_mistake =
    std::function<void(const std::string& key, const std::string& message)>;

/// `table`: where the document has it, or null.
void check_model_table(const config& all, const std::string& name,
                       const model_config& x, const value* table,
                       const model_mistake& report);

/// Parameters that a request to this model cannot carry. `report` gets the key.
void check_parameters(const parameters_config& asked, const model_config& of,
                      const model_mistake& report);

/// The names of the parameters that are set.
std::vector<std::string> set_parameters(const parameters_config& x);

/// What is wrong with a header of requests; empty: nothing. In its text
/// "${NAME}" is the value of a variable.
std::string mistake_in_header(std::string_view name, std::string_view text);

/// Names in "${NAME}"; nothing if a "${" has no end or no name.
std::optional<std::vector<std::string>> variables_in(std::string_view text);

/// Whether what a key of a query or a body names is a secret: "api_key".
bool names_secret(std::string_view name);

/// Whether a URL has something before its "@" that no variable gives.
bool holds_user(std::string_view url);

/// The variables whose values are keys: that of the key, those of headers, of
/// the query, and of the user in an address.
std::vector<std::string> key_variables(const model_config& x);
std::vector<std::string> key_variables(const mcp_config& x);

}  // namespace riffle::config
