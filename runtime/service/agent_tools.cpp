// SPDX-License-Identifier: MIT
#include "runtime/service/agent_tools.hpp"

#include <algorithm>
#include <set>

#include "runtime/base/log.hpp"
#include "runtime/config/mcp_checks.hpp"

namespace riffle::service {

namespace {

constexpr std::string_view whole_server = "mcp:";

}  // namespace

std::vector<std::string> tools_of_agent(const config::config& config,
                                        const std::string& agent) {
  auto out = config.agents.at(agent).tools;
  for (const auto& [name, server] : config.mcp) {
    const auto all = std::string{whole_server} + name;
    const bool gets =
        std::ranges::find(server.agents, agent) != server.agents.end();
    if (gets && std::ranges::find(out, all) == out.end()) out.push_back(all);
  }
  return out;
}

std::vector<std::string> expand_tools(const config::config& config,
                                      mcp::servers* servers,
                                      const std::vector<std::string>& names,
                                      const std::stop_token& stop,
                                      duration limit) {
  std::set<std::string> wanted;
  for (const auto& name : names)
    if (const auto server = config::server_of(config, name))
      wanted.insert(*server);
  if (servers == nullptr || wanted.empty()) return names;
  for (const auto& problem : servers->ready(wanted, stop, limit))
    log_warn("runtime", problem + "; its tools may be missing from this run");
  for (const auto& server : wanted)
    if (servers->tells_unseen(server))
      log_warn("mcp." + server,
               "nobody has looked at its tools yet: 'riffle mcp approve " +
                   server + "' shows them, and notices when they change");
  std::vector<std::string> out;
  const auto add = [&](const std::string& x) {
    if (std::ranges::find(out, x) == out.end()) out.push_back(x);
  };
  for (const auto& name : names) {
    if (!name.starts_with(whole_server)) {
      add(name);
      continue;
    }
    for (const auto& tool : servers->tools_of(name.substr(whole_server.size())))
      add(tool);
  }
  return out;
}

}  // namespace riffle::service
