// SPDX-License-Identifier: MIT
#include "actors/core/approval_rules.hpp"

#include <algorithm>
#include <optional>

#include "actors/core/plain_command.hpp"

namespace riffle::core {

namespace {

enum class match : std::uint8_t { no, unsure, yes };

/// What rules can see of a call.
struct view {
  std::optional<std::string> sure;  ///< all of it
  std::vector<std::string> parts;   ///< else: what may be in it
};

view view_of(const rule_subject& x) {
  if (!x.known) return {};
  if (!x.shell) return {x.text, {}};
  return {plain_command(x.text), rough_commands(x.text)};
}

match match_of(const approval_rule& rule, const view& x) {
  const auto fits = [&](const std::string& text) {
    return matches_pattern(rule.pattern, text);
  };
  if (x.sure && fits(*x.sure)) return match::yes;
  if (rule.policy == approval_policy::allow) return match::no;
  const bool in_part = std::ranges::any_of(x.parts, fits);
  if (x.sure) return in_part ? match::unsure : match::no;
  return in_part ? match::yes : match::unsure;
}

}  // namespace

approval_policy policy_of(const rule_subject& subject, approval_policy base,
                          const std::vector<approval_rule>& rules) {
  const auto seen = view_of(subject);
  auto least = approval_policy::allow;
  for (const auto& rule : rules) {
    const auto how = match_of(rule, seen);
    if (how == match::yes) return std::max(least, rule.policy);
    if (how == match::unsure) least = std::max(least, approval_policy::ask);
  }
  return std::max(least, base);
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  constexpr auto none = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  auto star = none;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != none) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == none;
}

}  // namespace riffle::core
