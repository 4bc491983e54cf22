// SPDX-License-Identifier: MIT
#pragma once

#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `read`.
tool_ptr make_read();

}  // namespace riffle::tools
