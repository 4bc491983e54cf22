// SPDX-License-Identifier: MIT
#include <utility>

#include "runtime/node/control_entries.hpp"
#include "runtime/node/node.hpp"
#include "tools/builtin/builtin.hpp"

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

}  // namespace

expected<std::shared_ptr<tools::registry>> make_registry(
    const config::config& config, std::vector<tools::tool_ptr> others) {
  auto registry = std::make_shared<tools::registry>();
  tools::builtin_options options;
  for (const auto& [name, model] : config.models)
    if (!model.api_key_env.empty())
      options.bash.hidden_env.push_back(model.api_key_env);
  if (auto done = tools::add_builtin_tools(*registry, options); !done)
    return unexpected{std::move(done.error())};
  for (auto& entry : control_entries())
    if (auto done = registry->add(std::move(entry)); !done)
      return unexpected{std::move(done.error())};
  for (auto& tool : others)
    if (auto done = registry->add(std::move(tool)); !done)
      return unexpected{std::move(done.error())};
  if (auto done = check_agents(config, *registry); !done)
    return unexpected{std::move(done.error())};
  return registry;
}

}  // namespace riffle
