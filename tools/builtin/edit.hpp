// SPDX-License-Identifier: MIT
#pragma once

#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `edit`. Its metadata has `path`, `replacements`, and a `diff` with
/// `added` and `removed` lines unless the changes lie far apart in a large
/// file.
tool_ptr make_edit();

}  // namespace riffle::tools
