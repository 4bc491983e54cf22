// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle::tools {

/// What in `content` comes nearest to `wanted`, which it does not hold, as a
/// sentence for the model; empty if nothing comes near. Looks at a bounded
/// number of lines.
std::string near_text(std::string_view content, std::string_view wanted);

}  // namespace riffle::tools
