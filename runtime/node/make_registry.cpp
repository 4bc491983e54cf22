// SPDX-License-Identifier: MIT
#include <utility>

#include "actors/tools/call_policy.hpp"
#include "runtime/base/endpoint.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/node/control_entries.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/worker_tool.hpp"
#include "tools/builtin/builtin.hpp"
#include "tools/command/command_tool.hpp"

namespace riffle {

namespace {

expected<void> check_agents(const config::config& config,
                            const tools::registry& registry) {
  for (const auto& [name, agent] : config.agents)
    for (const auto& tool : agent.tools)
      if (registry.find(tool) == nullptr && !config::server_of(config, tool))
        return unexpected{error{
            errc::invalid_config, "node",
            "agents." + name + ".tools: there is no tool `" + tool + "`"}};
  return {};
}

tools::pid_space space_of(const config::tool_config& x) {
  return x.pid_namespace == "none" ? tools::pid_space::shared
                                   : tools::pid_space::automatic;
}

tools::tool_ptr command_tool(const std::string& name,
                             const config::tool_config& x,
                             const std::filesystem::path& file_folder) {
  auto folder =
      x.program.cwd.empty()
          ? file_folder
          : config::resolve_home(x.program.cwd).value_or(x.program.cwd);
  if (folder.empty()) folder = ".";  // of a configuration without a file
  return tools::make_command_tool(
      {.name = name,
       .description = x.program.description,
       .parameters = x.program.parameters.text,
       .eff = parse_effect(x.program.effect).value_or(effect::mutating),
       .idempotent = x.idempotent,
       .command = x.program.command,
       .folder = std::filesystem::absolute(folder),
       .env = x.program.env,
       .keys = x.keys,
       .title = x.program.title,
       .space = space_of(x)});
}

}  // namespace

expected<std::shared_ptr<tools::registry>> make_plain_registry(
    const config::config& config, std::vector<tools::tool_ptr> others) {
  auto registry = std::make_shared<tools::registry>();
  tools::builtin_options options;
  options.bash.space = space_of(config.tools.of("bash"));
  options.bash.read_only = config.tools.of("bash").read_only;
  for (const auto& [name, model] : config.models)
    for (const auto& variable : config::key_variables(model)) {
      options.bash.hidden_env.push_back(variable);
      static_cast<void>(read_key(variable));  // no child gets it
    }
  // A person has keys for more than this configuration names.
  for (const auto& known : config::providers())
    for (auto& variable : config::key_variables(known.settings))
      options.bash.hidden_env.push_back(std::move(variable));
  if (const auto& door = config.server.token_env; !door.empty()) {
    options.bash.hidden_env.push_back(door);
    static_cast<void>(read_key(door));
  }
  for (const auto& text : config.tools.fetch_allow) {
    auto allowed = parse_endpoint(text);
    if (!allowed)
      return unexpected{
          error{errc::invalid_config, "node",
                "tools.fetch.allow: " + text + " is no host and no network"}};
    options.fetch.allow.push_back(*std::move(allowed));
  }
  options.fetch.rules = rules_of(config.tools, "fetch");
  options.fetch.otherwise =
      otherwise_of(config.tools, "fetch", effect::read_only);
  options.read.rules = rules_of(config.tools, "read");
  options.read.otherwise =
      otherwise_of(config.tools, "read", effect::read_only);
  if (auto done = tools::add_builtin_tools(*registry, options); !done)
    return unexpected{std::move(done.error())};
  for (auto& entry : control_entries())
    if (auto done = registry->add(std::move(entry)); !done)
      return unexpected{std::move(done.error())};
  for (const auto& [name, tool] : config.tools.by_name) {
    if (tool.type.empty()) continue;
    auto made = command_tool(name, tool, config.base_dir);
    if (auto done = registry->add(std::move(made)); !done)
      return unexpected{std::move(done.error())};
  }
  for (auto& tool : others)
    if (auto done = registry->add(std::move(tool)); !done)
      return unexpected{std::move(done.error())};
  return registry;
}

expected<std::shared_ptr<tools::registry>> make_registry(
    const config::config& config, std::vector<tools::tool_ptr> others) {
  auto plain = make_plain_registry(config, std::move(others));
  if (!plain) return plain;
  // What other processes have is known when they are there.
  if (!config.cluster.used())
    if (auto done = check_agents(config, **plain); !done)
      return unexpected{std::move(done.error())};
  return isolate_tools(std::move(*plain), config);
}

}  // namespace riffle
