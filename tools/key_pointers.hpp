// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace riffle::tools {

/// Text of a plain value; nothing for null, lists and objects.
std::optional<std::string> plain_text(const nlohmann::json& x);

/// What stands at JSON pointers (RFC 6901) into the arguments of a call, as
/// texts: of an array each item; what is not there, or no plain value, is left
/// out.
std::vector<std::string> texts_at(const std::vector<std::string>& pointers,
                                  const nlohmann::json& arguments);

}  // namespace riffle::tools
