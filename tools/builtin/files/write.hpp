// SPDX-License-Identifier: MIT
#pragma once

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The tool `write`. Its metadata has `path`, `lines`, `bytes`, `created`, and
/// a `diff` with `added` and `removed` lines if both texts are small enough.
/// `rules`: of `read`; no failure tells what they hide.
tool_ptr make_write(read_rules rules = {});

}  // namespace riffle::tools
