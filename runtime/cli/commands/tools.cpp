// SPDX-License-Identifier: MIT
// riffle tools list|call
#include "runtime/service/tools.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "actors/core/control_tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/tool_call_view.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/agent_tools.hpp"

namespace riffle::cli {

namespace {

std::string line_about(const tools::tool_spec& x, std::size_t columns) {
  constexpr std::size_t name_width = 14;
  constexpr std::size_t effect_width = 11;
  std::string out = x.name;
  out.resize(std::max(out.size() + 1, name_width), ' ');
  std::string effect{core::is_control_tool(x.name) ? "control"
                                                   : to_string(x.eff)};
  effect.resize(std::max(effect.size() + 1, effect_width), ' ');
  out += effect;
  const auto room = columns > out.size() ? columns - out.size() : 1;
  // What follows is for the model.
  const auto about = safe_line(x.description, 1000);
  const auto end = about.find(". ");
  return out + fit(end == about.npos ? about : about.substr(0, end), room) +
         "\n";
}

std::string outage_lines(const service::tool_view& x) {
  std::string lines;
  for (const auto& o : x.outages)
    lines += "  ✗ out of service in process " + std::to_string(o.process) +
             " since " + to_string(o.since) + ": " + safe_line(o.why, 300) +
             "\n";
  return lines;
}

/// Rules are for models; who calls a tool by hand needs nobody's consent.
void drop_rules(config::tools_config& x) {
  x.defaults.rules.clear();
  for (auto& [name, tool] : x.by_name) {
    tool.rules.clear();
    tool.approval = config::tool_config{}.approval;
  }
}

expected<std::shared_ptr<mcp::servers>> servers_of(
    const config::config& settings, servers_for what) {
  return make_servers(settings, {{}, mcp_memory(settings)}, {}, what);
}

/// Starts these; whether all are ready. Says why others are not.
bool make_ready(mcp::servers& all, const std::set<std::string>& names,
                console& io) {
  const auto problems = all.ready(names);
  for (const auto& problem : problems)
    io.complain(safe_line(problem.message, 1000));
  return problems.empty();
}

void add_served(const mcp::servers& all, const std::string& server,
                tools::registry& to) {
  for (const auto& name : all.tools_of(server))
    if (auto tool = all.find_tool(name))
      static_cast<void>(to.add(std::move(tool)));
}

/// With the tools of all servers, which are started; false: not all are ready.
bool add_servers(const config::config& settings,
                 const std::shared_ptr<mcp::servers>& servers,
                 tools::registry& to, console& io) {
  if (!servers) return true;
  std::set<std::string> names;
  for (const auto& [name, ignored] : settings.mcp) names.insert(name);
  const bool good = make_ready(*servers, names, io);
  for (const auto& name : names) add_served(*servers, name, to);
  return good;
}

/// They are asked only when somebody wants them: it starts programs.
void tell_not_started(const tools_command& x, const config::config& settings,
                      console& io) {
  if (x.common.output != output_kind::text ||
      x.common.level == verbosity::quiet || settings.mcp.empty())
    return;
  std::string names;
  for (const auto& [name, ignored] : settings.mcp)
    names += (names.empty() ? "" : ", ") + name;
  io.err.write(
      "Not started, so without their tools: " + names +
      " ('riffle mcp tools NAME', or 'riffle tools list --servers')\n");
}

int list(const tools_command& x, const tools::registry& tools,
         const config::config& settings, console& io) {
  constexpr std::size_t usual_width = 100;
  // The last column stays free: a line that fills it looks wrapped.
  const auto columns = io.out.is_terminal()
                           ? std::max<std::size_t>(io.out.columns(), 2) - 1
                           : usual_width;
  if (!x.servers) tell_not_started(x, settings, io);
  auto all = service::list_tools(tools, settings);
  if (!x.agent.empty()) {
    const auto its = service::tools_of_agent(settings, x.agent);
    std::erase_if(all, [&](const auto& one) {
      return std::ranges::find(its, one.spec.name) == its.end();
    });
  }
  return write_list(
      all, x.common, {},
      [columns](const auto& one) {
        return line_about(one.spec, columns) + outage_lines(one);
      },
      [](const auto& one) { return service::to_json(one); }, io);
}

int list_with_servers(const tools_command& x, const tools::registry& own,
                      const config::config& settings, console& io) {
  const auto servers = servers_of(settings, servers_for::runs);
  if (!servers) return report(servers.error(), io);
  tools::registry all;
  for (const auto& name : own.names())
    static_cast<void>(all.add(*own.find(name)));
  const bool good = add_servers(settings, *servers, all, io);
  const int status = list(x, all, settings, io);
  return good ? status : failed;
}

expected<std::string> arguments_of(const tools_command& x) {
  if (x.arguments == "-") return read_stdin("arguments");
  return x.arguments;
}

/// The tool of a server, which is started for it; the others are not.
int call_served(const tools_command& x, const std::string& server,
                const config::config& settings, console& io) {
  auto text = arguments_of(x);
  if (!text) return report(text.error(), io);
  const auto servers = servers_of(settings, servers_for::calls);
  if (!servers) return report(servers.error(), io);
  if (!make_ready(**servers, {server}, io)) return failed;
  tools::registry tools;
  add_served(**servers, server, tools);
  return call_tool(tools, x.name, *std::move(text), x.common, settings, io);
}

int call(const tools_command& x, const tools::registry& tools,
         const config::config& settings, console& io) {
  auto text = arguments_of(x);
  if (!text) return report(text.error(), io);
  return call_tool(tools, x.name, *std::move(text), x.common, settings, io);
}

}  // namespace

int execute(const tools_command& x, console& io) {
  const bool calls = x.action == tools_command::what::call;
  const bool acts = calls || x.servers;
  auto settings =
      load_config(x.common, acts ? config_use::acts : config_use::looks,
                  x.arguments == "-", io);
  if (!settings) return usage;
  own_process(*settings);
  if (calls) drop_rules(settings->tools);
  add_mcp_limits(*settings);
  if (calls)
    if (const auto server = config::server_of(*settings, x.name))
      return call_served(x, *server, *settings, io);
  const auto tools = make_registry(*settings, {});
  if (!tools) return report(tools.error(), io);
  if (calls) return call(x, **tools, *settings, io);
  return x.servers ? list_with_servers(x, **tools, *settings, io)
                   : list(x, **tools, *settings, io);
}

}  // namespace riffle::cli
