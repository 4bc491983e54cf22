// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// What can never do what it says (rules, `completion`), or not here (a
/// variable that is not set), each with the reason and what to write instead:
/// "line 7: tools.write.rules: item 2: …". They are no mistakes: the
/// configuration holds.
std::vector<std::string> rule_warnings(const config& x);

/// Whether each text that `pattern` matches is matched by `earlier`, too. True
/// is certain, false is not.
bool pattern_covers(std::string_view earlier, std::string_view pattern);

}  // namespace riffle::config
