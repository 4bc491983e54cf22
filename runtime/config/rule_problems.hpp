// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// Why no call of the tool can match the rule, and what to write instead;
/// empty: one can.
std::string never_matches(const approval_rule& rule, const std::string& tool,
                          const tool_config& of);

/// What a rule that can match does not cover, or covers too, though its
/// pattern looks otherwise; empty: nothing is odd.
std::string odd_about(const approval_rule& rule, const std::string& tool,
                      const tool_config& of);

}  // namespace riffle::config
