// SPDX-License-Identifier: MIT
#include <utility>

#include "runtime/base/endpoint.hpp"
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
      if (registry.find(tool) == nullptr)
        return unexpected{error{
            errc::invalid_config, "node",
            "agents." + name + ".tools: there is no tool `" + tool + "`"}};
  return {};
}

tools::tool_ptr command_tool(const std::string& name,
                             const config::tool_config& x,
                             const std::filesystem::path& file_folder) {
  auto folder =
      x.program.cwd.empty() ? file_folder : config::expand_home(x.program.cwd);
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
       .title = x.program.title});
}

}  // namespace

expected<std::shared_ptr<tools::registry>> make_plain_registry(
    const config::config& config, std::vector<tools::tool_ptr> others) {
  auto registry = std::make_shared<tools::registry>();
  tools::builtin_options options;
  for (const auto& [name, model] : config.models)
    if (!model.api_key_env.empty())
      options.bash.hidden_env.push_back(model.api_key_env);
  for (const auto& text : config.tools.fetch_allow) {
    auto allowed = parse_endpoint(text);
    if (!allowed)
      return unexpected{
          error{errc::invalid_config, "node",
                "tools.fetch.allow: " + text + " is no host and no network"}};
    options.fetch.allow.push_back(*std::move(allowed));
  }
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
  if (auto done = check_agents(config, **plain); !done)
    return unexpected{std::move(done.error())};
  return isolate_tools(std::move(*plain), config);
}

}  // namespace riffle
