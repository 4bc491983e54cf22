// SPDX-License-Identifier: MIT
#pragma once

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `grep`. Its metadata has `matches`, `files` (with matches), and
/// `truncated` if not all of them are shown.
tool_ptr make_grep(read_rules rules = {});

}  // namespace riffle::tools
