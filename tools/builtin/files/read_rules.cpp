// SPDX-License-Identifier: MIT
#include "tools/builtin/files/read_rules.hpp"

#include <algorithm>
#include <string>

namespace riffle::tools {

bool read_rules::hide(std::string_view place) const {
  if (rules.empty()) return otherwise != core::approval_policy::allow;
  const rule_subject subject{.text = std::string{place}, .place = true};
  return core::policy_of(subject, otherwise, rules) !=
         core::approval_policy::allow;
}

neighbours read_rules::others() const {
  const bool some = otherwise != core::approval_policy::allow ||
                    std::ranges::any_of(rules, [](const auto& x) {
                      return x.policy != core::approval_policy::allow;
                    });
  return some ? neighbours::untold : neighbours::named;
}

}  // namespace riffle::tools
