// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "runtime/config/document.hpp"

namespace riffle::config {

/// A table, or a text that holds a JSON object, as compact JSON. The error
/// says what is wrong.
tl::expected<std::string, std::string> to_json(const value& x);

}  // namespace riffle::config
