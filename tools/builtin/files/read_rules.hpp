// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tools/builtin/files/file_failure.hpp"

namespace riffle::tools {

/// What the configuration says about `read`. Searches show nothing of what it
/// is denied or would have to ask for: no line, no name. Nobody can be asked
/// about each file of a search.
struct read_rules {
  std::vector<core::approval_rule> rules;  ///< the first that matches decides
  core::approval_policy otherwise = core::approval_policy::allow;

  /// `place`: relative to the workspace, without links.
  [[nodiscard]] bool hide(std::string_view place) const;
  /// Untold, where they hide anything.
  [[nodiscard]] neighbours others() const;
};

}  // namespace riffle::tools
