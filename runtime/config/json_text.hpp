// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include <tl/expected.hpp>

#include "runtime/config/document.hpp"

namespace riffle::config {

/// A table, or a text that holds a JSON object, as compact JSON. The error
/// says what is wrong.
tl::expected<std::string, std::string> to_json(const value& x);

/// The name of a value in a JSON object that is no text; empty: all are.
std::string not_a_text(const std::string& object);

/// The texts of a JSON object by their names; of nothing else none.
std::map<std::string, std::string> texts_of(const std::string& object);

}  // namespace riffle::config
