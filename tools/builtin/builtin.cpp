// SPDX-License-Identifier: MIT
#include "tools/builtin/builtin.hpp"

#include <utility>

#include "tools/builtin/files/files.hpp"
#include "tools/builtin/search/search.hpp"

namespace riffle::tools {

expected<void> add_builtin_tools(registry& tools, builtin_options options) {
  if (auto ok = tools.add(make_bash(std::move(options.bash))); !ok) return ok;
  if (auto ok = tools.add(make_fetch(std::move(options.fetch))); !ok) return ok;
  for (auto tool : {make_read(options.read), make_glob(options.read),
                    make_grep(options.read), make_write(options.read),
                    make_edit(options.read)})
    if (auto ok = tools.add(std::move(tool)); !ok) return ok;
  return {};
}

}  // namespace riffle::tools
