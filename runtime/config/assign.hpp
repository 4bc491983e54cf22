// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "runtime/config/document.hpp"
#include "runtime/config/schema.hpp"

namespace riffle::config {

/// Checks a value against its rule and stores it. Returns what is wrong and
/// what is allowed; empty: nothing is. `folder`: anchor of relative paths.
std::string assign(const slot& target, const value& x, const rule& allowed,
                   const std::filesystem::path& folder);

/// Line ends, controls and what turns the direction of reading, as TOML
/// escapes them.
std::string toml_escaped(std::string_view text);

/// A text as it stands in TOML, quoted and escaped.
std::string in_quotes(std::string_view text);

/// A number as short as it can be.
std::string number_text(double x);

}  // namespace riffle::config
