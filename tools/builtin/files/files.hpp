// SPDX-License-Identifier: MIT
#pragma once

// The tools of this folder. `rules`: of `read`; no failure of the others tells
// what they hide.

#include "tools/builtin/files/read_rules.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

tool_ptr make_read(read_rules rules = {});

/// Its metadata has `path`, `lines`, `bytes`, `created`, and a `diff` with
/// `added` and `removed` lines if both texts are small enough.
tool_ptr make_write(read_rules rules = {});

/// Its metadata has `path`, `replacements`, and a `diff` with `added` and
/// `removed` lines unless the changes lie far apart in a large file.
tool_ptr make_edit(read_rules rules = {});

}  // namespace riffle::tools
