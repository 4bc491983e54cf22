// SPDX-License-Identifier: MIT
#pragma once

#include "messages/error.hpp"
#include "tools/builtin/files/read_rules.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/builtin/web/fetch.hpp"
#include "tools/registry.hpp"

namespace riffle::tools {

struct builtin_options {
  bash_options bash;
  fetch_options fetch;
  read_rules read;  ///< what searches do not show
};

/// Adds all tools of this folder. Fails if a name is taken.
expected<void> add_builtin_tools(registry& tools, builtin_options options);

}  // namespace riffle::tools
