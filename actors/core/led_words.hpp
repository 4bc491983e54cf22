// SPDX-License-Identifier: MIT
#pragma once

// Rules about a command whose words lead elsewhere by links of the file system.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/core/approval_rules.hpp"

namespace riffle::core {

/// Words of a command that a link leads elsewhere, and what they come to there:
/// more than one thing where the command may be in more than one folder.
struct led_words {
  std::map<std::string, std::vector<std::string>, std::less<>> to{};
  /// Files that a pattern takes in by links with other names.
  std::map<std::string, std::vector<std::string>, std::less<>> taken_in{};
  bool all = true;  ///< false: there were too many to look at
};

/// As `judge_call`, but `deny` rules also see the command with its words as
/// links lead them. Where nobody looked at all of them it is in doubt.
judgement judge_led_call(const rule_subject& subject, approval_policy base,
                         const std::vector<approval_rule>& rules,
                         const led_words& led);

}  // namespace riffle::core
