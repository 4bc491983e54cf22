// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tools/fetch/web_get.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct fetch_options {
  /// Hosts and networks beside the public internet.
  std::vector<endpoint> allow;
  web_limits limits;
  /// For tests, see `web_request`.
  std::vector<std::string> resolve;
};

/// The tool `fetch`.
tool_ptr make_fetch(fetch_options options);

}  // namespace riffle::tools
