// SPDX-License-Identifier: MIT
#include "runtime/api/worker_main.hpp"

#include "runtime/node/worker_tool.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/worker_process.hpp"

namespace riffle {

int worker_main(int argc, char** argv, const tool_factory& make) {
  if (const int status = tools::run_guard_if_asked(argc, argv); status != -1)
    return status;
  return tools::run_worker_if_asked(
      argc, argv,
      [&make](const std::string& configuration, const std::string& name) {
        return make_worker_tool(configuration, name,
                                make ? make() : std::vector<tools::tool_ptr>{});
      });
}

}  // namespace riffle
