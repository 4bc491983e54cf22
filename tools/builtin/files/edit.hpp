// SPDX-License-Identifier: MIT
#pragma once

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `edit`. Its metadata has `path`, `replacements`, and a `diff` with
/// `added` and `removed` lines unless the changes lie far apart in a large
/// file.
/// `rules`: of `read`; no failure tells what they hide.
tool_ptr make_edit(read_rules rules = {});

}  // namespace riffle::tools
