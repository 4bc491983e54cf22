// SPDX-License-Identifier: MIT
#pragma once

// Which calls need a person's decision: the policy of a tool, and rules that
// look at what a call is about.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/call.hpp"

namespace riffle::core {

/// From the mildest to the strictest.
enum class approval_policy : std::uint8_t { allow, ask, deny };

/// `pattern` is matched with the whole of a call's subject: `*` is any text,
/// also none, `?` any one character; all else is itself.
struct approval_rule {
  std::string pattern;
  approval_policy policy = approval_policy::ask;

  bool operator==(const approval_rule&) const = default;
};

/// The policy for a call: that of the first rule that matches, else `base`.
///
/// A rule that cannot be sure does not match. Of a command for a shell, rules
/// see the plain words (plain_command.hpp); where there is more to it, an
/// `allow` never matches, the others match any part that may be a command, and
/// a rule of these that is passed by leaves at least `ask`. So does one that
/// only a quoted word would match (sh -c "rm x"), and a subject that is not
/// known. What a plain command does with its words (sudo, env, xargs) is not
/// seen: rules spare questions, they are no sandbox.
approval_policy policy_of(const rule_subject& subject, approval_policy base,
                          const std::vector<approval_rule>& rules);

/// Linear in pattern and text together, save one factor for each `*`.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace riffle::core
