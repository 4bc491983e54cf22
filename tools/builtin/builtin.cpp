// SPDX-License-Identifier: MIT
#include "tools/builtin/builtin.hpp"

#include <utility>

#include "tools/builtin/read.hpp"

namespace riffle::tools {

expected<void> add_builtin_tools(registry& tools, builtin_options options) {
  if (auto ok = tools.add(make_bash(std::move(options.bash))); !ok) return ok;
  return tools.add(make_read());
}

}  // namespace riffle::tools
