// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tools/builtin/web/web_get.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct fetch_options {
  /// Hosts and networks beside the public internet.
  std::vector<endpoint> allow;
  web_limits limits;
  /// What the configuration says about this tool: redirects obey it, too. The
  /// first rule that matches decides.
  std::vector<core::approval_rule> rules;
  core::approval_policy otherwise = core::approval_policy::allow;
  /// For tests, see `web_request`.
  std::vector<std::string> resolve;
};

/// The tool `fetch`.
tool_ptr make_fetch(fetch_options options);

}  // namespace riffle::tools
