// SPDX-License-Identifier: MIT
// riffle tools list|call
#include "runtime/service/tools.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/control_tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/tool_call_view.hpp"
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

int list(const tools_command& x, const tools::registry& tools,
         const config::config& settings, console& io) {
  constexpr std::size_t usual_width = 100;
  const auto columns = io.out.is_terminal() ? io.out.columns() : usual_width;
  // They are asked only when somebody wants them: it starts programs.
  if (x.common.output == output_kind::text &&
      x.common.level != verbosity::quiet)
    for (const auto& [name, ignored] : settings.mcp)
      io.err.write("Tools of the server " + name + ": riffle mcp tools " +
                   name + "\n");
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

int call(const tools_command& x, const tools::registry& tools,
         const config::config& settings, console& io) {
  auto text = x.arguments == "-" ? read_stdin("arguments")
                                 : expected<std::string>{x.arguments};
  if (!text) return report(text.error(), io);
  return call_tool(tools, x.name, std::move(*text), x.common, settings, io);
}

}  // namespace

int execute(const tools_command& x, console& io) {
  const bool looks = x.action == tools_command::what::list;
  auto settings =
      load_config(x.common, looks ? config_use::looks : config_use::acts,
                  x.arguments == "-", io);
  if (!settings) return usage;
  own_process(*settings);
  if (x.action == tools_command::what::call) drop_rules(settings->tools);
  const auto tools = make_registry(*settings, {});
  if (!tools) return report(tools.error(), io);
  return x.action == tools_command::what::list
             ? list(x, **tools, *settings, io)
             : call(x, **tools, *settings, io);
}

}  // namespace riffle::cli
