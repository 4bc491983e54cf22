// SPDX-License-Identifier: MIT
#pragma once

#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `write`. Its metadata has `path`, `lines`, `bytes`, `created`, and
/// a `diff` with `added` and `removed` lines if both texts are small enough.
tool_ptr make_write();

}  // namespace riffle::tools
