// SPDX-License-Identifier: MIT
#include "tests/e2e/cluster_world.hpp"

#include <algorithm>
#include <iterator>

#include "tests/support/processes.hpp"

namespace riffle::testing {

std::vector<pid_t> node_process::noting() const {
  auto here = processes_in(folder);
  auto all = processes_with("echo ended");
  std::ranges::sort(here);
  std::ranges::sort(all);
  std::vector<pid_t> out;
  std::ranges::set_intersection(here, all, std::back_inserter(out));
  return out;
}

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
