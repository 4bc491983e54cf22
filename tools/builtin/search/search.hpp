// SPDX-License-Identifier: MIT
#pragma once

// The tools of this folder. `rules`: of `read`; what they hide is not found.

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// Its metadata has `matches`, and `truncated` if not all of them are listed.
tool_ptr make_glob(read_rules rules = {});

/// Its metadata has `matches`, `files` (with matches), and `truncated` if not
/// all of them are shown.
tool_ptr make_grep(read_rules rules = {});

}  // namespace riffle::tools
