// SPDX-License-Identifier: MIT
#pragma once

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `read`.
tool_ptr make_read(read_rules rules = {});

}  // namespace riffle::tools
