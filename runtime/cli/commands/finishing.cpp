// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/finishing.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "messages/duration_text.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/service/agent_tools.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_left = 100'000;
constexpr auto between_looks = std::chrono::milliseconds{50};
/// So often one after the other it must look as if all waited: the next run of
/// a volley, or of a plan, may be about to begin.
constexpr unsigned looks_that_agree = 4;

/// Its steps are runs of their own.
bool is_plan(const storage::run_record& x) {
  const auto asked = service::request_from_json(x.settings);
  return !asked.plan.empty() || !asked.plan_session.value.empty();
}

/// Of an agent's tool that no configuration here has, or whose calls all go
/// elsewhere.
bool is_of_nodes(const config::config& config, const std::string& tool) {
  if (!config.cluster.used()) return false;
  const auto own = config.tools.by_name.find(tool);
  if (own == config.tools.by_name.end())
    return std::ranges::count(config::builtin_tools(), tool) == 0;
  const auto& nodes = own->second.nodes;
  return !nodes.empty() && std::ranges::count(nodes, "local") == 0;
}

/// It is on record and has done nothing, for a server of its agent, or a node,
/// is not there yet; the next start goes on with it.
bool waits_for_others(const storage::run_record& x,
                      const config::config& config) {
  constexpr std::int64_t long_us = 500'000;
  if (x.step > 0 || system_wall_time().us - x.started.us < long_us ||
      !config.agents.contains(x.agent) || is_plan(x))
    return false;
  return std::ranges::any_of(
      service::tools_of_agent(config, x.agent), [&](const auto& tool) {
        return config::server_of(config, tool) || is_of_nodes(config, tool);
      });
}

/// What cannot go on before a person decides, or a server is there.
class waiting_runs {
 public:
  waiting_runs(std::set<run_id> asking,
               const std::vector<storage::run_record>& here)
      : asking_{std::move(asking)} {
    for (const auto& x : here)
      if (auto plan = service::request_from_json(x.settings).of_plan;
          !plan.empty())
        steps_[std::move(plan)].push_back(x.id);
  }

  /// A plan waits with its steps.
  [[nodiscard]] bool has(const run_id& id) const {
    if (asking_.contains(id)) return true;
    const auto at = steps_.find(id);
    return at != steps_.end() && has_all(at->second);
  }
  [[nodiscard]] bool has_all(const std::vector<run_id>& all) const {
    return std::ranges::all_of(
        all, [&](const run_id& x) { return asking_.contains(x); });
  }

 private:
  std::set<run_id> asking_;
  std::map<run_id, std::vector<run_id>> steps_;
};

expected<std::vector<storage::run_record>> find_here(
    const service::sessions& sessions) {
  auto all = sessions.unfinished(most_left);
  if (!all) return unexpected{std::move(all.error())};
  std::vector<storage::run_record> out;
  for (auto& x : *all)
    if (x.owner == storage::run_owner::here) out.push_back(std::move(x.run));
  return out;
}

enum class what_runs : std::uint8_t {
  nothing,
  waits,  ///< all of it for a person, or a server
  works,
};

what_runs find_what_runs(http::site& site) {
  using enum what_runs;
  const auto volleys = site.volleys()->living();
  const auto here = find_here(site.parts().sessions);
  const auto asked = site.parts().proposals.list(
      storage::proposal_filter{.undecided = true, .limit = most_left});
  if (!here || !asked) return works;
  std::set<run_id> asking;
  for (const auto& x : *asked) asking.insert(x.it.what.run);
  for (const auto& x : *here)
    if (waits_for_others(x, *site.parts().config)) asking.insert(x.id);
  const waiting_runs waiting{std::move(asking), *here};
  bool none = here->empty();
  for (const auto& volley : volleys) {
    const auto runs = volley->under_way();
    if (!runs || !waiting.has_all(*runs)) return works;
    none = none && runs->empty();
  }
  if (none) return nothing;
  const bool all = std::ranges::all_of(
      *here, [&](const auto& x) { return waiting.has(x.id); });
  return all ? waits : works;
}

}  // namespace

std::size_t runs_here(const service::sessions& sessions) {
  const auto all = find_here(sessions);
  return all ? all->size() : 0;
}

void let_finish(http::site& site, std::chrono::steady_clock::time_point until) {
  bool told = false;
  for (unsigned agree = 0; std::chrono::steady_clock::now() < until;) {
    const auto now = find_what_runs(site);
    agree = now == what_runs::works ? 0 : agree + 1;
    if (now == what_runs::nothing || agree == looks_that_agree) return;
    if (agree == 0 && !std::exchange(told, true))
      log_warn("server",
               "waits for what runs, for " +
                   duration_text(site.parts().config->server.stop_timeout) +
                   " at most; a second Ctrl-C does not wait");
    std::this_thread::sleep_for(between_looks);
  }
}

void end_waited_for(http::site& site) {
  constexpr auto limit = std::chrono::seconds{3};  // a stop takes no longer
  const auto until = std::chrono::steady_clock::now() + limit;
  std::set<run_id> told;
  for (;;) {
    const auto here = find_here(site.parts().sessions);
    if (!here) return;
    bool none = true;
    for (const auto& x : *here) {
      if (!service::is_waited_for(x.id)) continue;
      none = false;
      if (told.insert(x.id).second)
        site.parts().runs.cancel_here(x.id, "the server ends");
    }
    if (none || std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace riffle::cli
