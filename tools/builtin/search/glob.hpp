// SPDX-License-Identifier: MIT
#pragma once

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `glob`. Its metadata has `matches`, and `truncated` if not all of
/// them are listed.
tool_ptr make_glob(read_rules rules = {});

}  // namespace riffle::tools
