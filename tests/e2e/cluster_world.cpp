// SPDX-License-Identifier: MIT
#include "tests/e2e/cluster_world.hpp"

namespace riffle::testing {

json result_of(const std::string& log) {
  const auto results = of_type(checked_events(log), "tool_result");
  REQUIRE(results.size() == 1);
  return results[0].at("data");
}

std::string called_on(const std::string& log) {
  const auto all = of_type(checked_events(log), "tool_call");
  REQUIRE(all.size() == 1);
  return all[0].at("data").value("node", "");
}

}  // namespace riffle::testing
