// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle::cli {

/// A JSON text with the characters that stand in it as \uNNNN, as far as they
/// are beyond ASCII and one can see them. All else stays as it is, byte for
/// byte.
std::string readable_json(std::string_view text);

}  // namespace riffle::cli
