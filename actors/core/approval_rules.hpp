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

struct judgement {
  approval_policy policy = approval_policy::ask;
  /// The pattern of a `deny` rule that the call cannot be told apart from:
  /// then `policy` is `ask`, and nobody but a person may say yes.
  std::string in_doubt;
  /// The pattern of the rule that denies; empty: none of them does.
  std::string rule{};

  bool operator==(const judgement&) const = default;
};

/// The policy for a call: that of the first rule that matches, else `base`.
///
/// An `allow` that cannot be sure does not match: of a command for a shell it
/// sees the plain words (plain_command.hpp), and nothing where there is more.
/// The others hold when in doubt. They match any part that may be a command
/// (rough_commands); `deny` also what a command in front of it runs, which an
/// earlier `allow` does not free. What may be what they name
/// (command_doubt.hpp), or a subject that is not known, leaves at least `ask`,
/// and of a `deny` rule the doubt. Rules are no sandbox: what a program does
/// by itself, or because of what files hold, they do not see.
judgement judge_call(const rule_subject& subject, approval_policy base,
                     const std::vector<approval_rule>& rules);

/// Only its policy.
approval_policy policy_of(const rule_subject& subject, approval_policy base,
                          const std::vector<approval_rule>& rules);

/// Linear in pattern and text together, save one factor for each `*`.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace riffle::core
