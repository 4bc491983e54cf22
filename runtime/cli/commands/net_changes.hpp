// SPDX-License-Identifier: MIT
#pragma once

// What several changes of a file come to, as long as it is what they left.

#include <vector>

#include "runtime/cli/view/changes_text.hpp"
#include "tools/builtin/files/take_back.hpp"

namespace riffle::cli {

std::vector<tools::made_change> made_by(const changed_file& x);

/// Sets `changed_file::net` of files that were changed more than once, in one
/// folder, where the file and the log tell it. Reads these files, of the first
/// ones as much as takes half a second or so.
void find_net(std::vector<changed_file>& all);

}  // namespace riffle::cli
