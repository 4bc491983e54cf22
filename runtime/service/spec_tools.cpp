// SPDX-License-Identifier: MIT
// What tools a run has, and what it waits for: a part of the spec maker.
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/service/agent_tools.hpp"
#include "runtime/service/spec_maker.hpp"

namespace riffle::service {

namespace {

constexpr const char* of_wait = "runtime";

/// A wait for a node that is longer is told while it lasts.
constexpr duration told_after = std::chrono::milliseconds{500};

/// In words; empty: all are there.
std::string missing_of(const std::vector<std::string>& names,
                       const tools::registry& there) {
  std::string out;
  for (const auto& name : names)
    if (there.find(name) == nullptr)
      out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

/// A wait counts for the limit of its run, too (0: it has none).
duration wait_limit(duration wanted, duration of_run, duration used) {
  if (of_run == duration{}) return wanted;
  return std::clamp(of_run - used, duration{}, wanted);
}

/// Those that an agent's tools are of.
std::set<std::string> servers_of(const config::config& config,
                                 const std::string& agent) {
  std::set<std::string> out;
  for (const auto& tool : tools_of_agent(config, agent))
    if (auto server = config::server_of(config, tool))
      out.insert(*std::move(server));
  return out;
}

}  // namespace

bool spec_maker::waits_for_servers(const std::string& agent, duration timeout,
                                   const std::stop_token& stop) const {
  if (!parts_.servers || !config_->agents.contains(agent)) return false;
  const auto all = servers_of(*config_, agent);
  if (!parts_.servers->would_wait(all)) return false;
  if (timeout == duration{}) return true;
  parts_.servers->ready(all, stop, timeout);
  return !stop.stop_requested() && parts_.servers->are_starting(all);
}

/// In words; empty: for none.
std::string spec_maker::wait_for_servers(const std::string& agent) const {
  if (!parts_.servers) return {};
  std::string names;
  for (const auto& name : servers_of(*config_, agent))
    if (parts_.servers->would_wait({name}))
      names += (names.empty() ? "`" : ", `") + name + "`";
  return names.empty() ? names : "waiting for the MCP server " + names;
}

bool spec_maker::waits_for_nodes(const std::string& agent) const {
  if (!parts_.nodes || !config_->agents.contains(agent)) return false;
  auto names = tools_of_agent(*config_, agent);
  leave_out_servers(*config_, names);
  return parts_.tools->would_wait(those_of_nodes(std::move(names)));
}

/// Those whose calls do not run here, by what this process has or by a rule.
std::vector<std::string> spec_maker::those_of_nodes(
    std::vector<std::string> names) const {
  std::erase_if(names, [&](const std::string& name) {
    const auto& nodes = config_->tools.of(name).nodes;
    return parts_.tools->has_own(name) &&
           (nodes.empty() || std::ranges::find(nodes, "local") != nodes.end());
  });
  return names;
}

std::string spec_maker::wait_for_nodes(
    const std::vector<std::string>& names) const {
  if (!parts_.nodes || !parts_.tools->would_wait(those_of_nodes(names)))
    return {};
  const auto missing = missing_of(names, *parts_.tools->now());
  return "waiting for " +
         (missing.empty() ? "the nodes of cluster.join"
                          : "a node with " + missing) +
         ", " + duration_text(config_->cluster.join_timeout) +
         " at most (cluster.join_timeout)";
}

/// As they are now: what nodes have is waited for if it is named.
std::shared_ptr<const tools::registry> spec_maker::tools_for(
    std::vector<std::string>& names, const run_request& x,
    std::string& waited) const {
  const auto came = std::chrono::steady_clock::now();
  names =
      expand_tools(*config_, parts_.servers.get(), names, x.stop, x.timeout);
  auto now = parts_.tools->now();
  if (!parts_.nodes) return now;
  const auto missing = missing_of(names, *now);
  const auto limit = wait_limit(config_->cluster.join_timeout, x.timeout,
                                std::chrono::steady_clock::now() - came);
  if (missing.empty()) {
    // For all that have them.
    parts_.tools->wait_for(those_of_nodes(names), limit, x.stop);
    return parts_.tools->now();
  }
  const auto begin = std::chrono::steady_clock::now();
  auto there =
      parts_.tools->wait_for(names, std::min(limit, told_after), x.stop);
  if (!there && limit > told_after && !x.stop.stop_requested()) {
    if (const auto text = wait_for_nodes(names); !text.empty())
      log_warn(of_wait, text);
    there = parts_.tools->wait_for(names, limit - told_after, x.stop);
  }
  if (there) {
    const auto took = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    waited = "waited " + duration_text(took) + " for a node with " + missing;
  } else if (x.stop.stop_requested()) {
    waited = "nobody waits for a node with " + missing + " any more";
  } else {
    waited = "no node with " + missing + " joined within " +
             duration_text(limit) + " (cluster.join_timeout)";
    log_warn(of_wait, waited);
  }
  return parts_.tools->now();
}

}  // namespace riffle::service
