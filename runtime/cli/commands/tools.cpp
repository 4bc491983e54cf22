// SPDX-License-Identifier: MIT
// riffle tools list|call
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/tool_call_view.hpp"
#include "runtime/config/home.hpp"
#include "runtime/node/node.hpp"
#include "runtime/storage/health_registry.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

using outages = std::vector<storage::tool_outage>;

/// Tools that a running process has taken out of service.
outages find_outages(const config::config& settings) {
  const auto folder = config::data_folder(settings.runtime);
  return folder ? storage::read_outages(*folder / "service") : outages{};
}

json facts(const tools::tool_spec& x, const config::config& settings) {
  auto parameters = json::parse(x.parameters, nullptr, false);
  return {{"name", x.name},
          {"effect", to_string(x.eff)},
          {"idempotent", x.idempotent || settings.tools.of(x.name).idempotent},
          {"approval", settings.tools.approval_of(x.name, x.eff)},
          {"description", x.description},
          {"parameters", std::move(parameters)}};
}

json about(const tools::tool_spec& x, const config::config& settings,
           const outages& out) {
  auto result = facts(x, settings);
  for (const auto& o : out)
    if (o.tool == x.name)
      result["out_of_service"].push_back({{"process", o.process},
                                          {"since", to_string(o.since)},
                                          {"why", o.why}});
  return result;
}

std::string line_about(const tools::tool_spec& x, std::size_t columns) {
  constexpr std::size_t name_width = 14;
  constexpr std::size_t effect_width = 11;
  std::string out = x.name;
  out.resize(std::max(out.size() + 1, name_width), ' ');
  std::string effect{to_string(x.eff)};
  effect.resize(std::max(effect.size() + 1, effect_width), ' ');
  out += effect;
  const auto room = columns > out.size() ? columns - out.size() : 1;
  return out + fit(safe_line(x.description, 1000), room) + "\n";
}

std::string outage_lines(const std::string& tool, const outages& out) {
  std::string lines;
  for (const auto& o : out)
    if (o.tool == tool)
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
  auto all = json::array();
  const auto out = find_outages(settings);
  for (const auto& name : tools.names()) {
    const auto& spec = (*tools.find(name))->spec();
    switch (x.common.output) {
      case output_kind::text:
        io.out.write(line_about(spec, columns) + outage_lines(name, out));
        break;
      case output_kind::jsonl:
        io.out.write(about(spec, settings, out).dump() + "\n");
        break;
      case output_kind::json: all.push_back(about(spec, settings, out)); break;
    }
  }
  if (x.common.output == output_kind::json) io.out.write(all.dump() + "\n");
  return io.out.good() ? completed : failed;
}

int call(const tools_command& x, const tools::registry& tools,
         const config::config& settings, console& io) {
  if (core::is_control_tool(x.name)) {
    io.complain("\"" + x.name +
                "\" is handled by the run itself, it cannot be called alone");
    return usage;
  }
  auto text = x.arguments == "-" ? read_stdin("arguments")
                                 : expected<std::string>{x.arguments};
  if (!text) return report(text.error(), io);
  const auto arguments = tools.check(x.name, *text);
  if (!arguments) {
    report(arguments.error(), io);
    return usage;
  }
  return call_tool(*tools.find(x.name), *arguments, x.common, settings, io);
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
