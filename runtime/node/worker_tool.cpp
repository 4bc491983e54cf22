// SPDX-License-Identifier: MIT
#include "runtime/node/worker_tool.hpp"

#include <utility>

#include "actors/core/control_tools.hpp"
#include "tools/process/isolated_tool.hpp"
#include "tools/process/worker_process.hpp"

namespace riffle {

namespace {

bool wants_child(const tools::tool& tool, const config::config& config) {
  const auto& spec = tool.spec();
  return config.tools.of(spec.name).isolation == "process" && !spec.guarded &&
         !core::is_control_tool(spec.name);
}

unexpected no_worker(const std::string& tool) {
  return unexpected{error{
      errc::invalid_config, "node",
      "tools." + tool +
          ".isolation: \"process\" runs the tool in this program, started "
          "once more: call riffle::worker_main(argc, argv) first in main, or "
          "set \"thread\""}};
}

}  // namespace

expected<std::shared_ptr<tools::registry>> isolate_tools(
    std::shared_ptr<tools::registry> plain, const config::config& config) {
  std::shared_ptr<tools::registry> out;
  for (const auto& name : plain->names())
    if (wants_child(**plain->find(name), config))
      out = std::make_shared<tools::registry>();
  if (!out) return plain;
  const auto text = worker_configuration(config);
  for (const auto& name : plain->names()) {
    auto tool = *plain->find(name);
    if (wants_child(*tool, config)) {
      if (!tools::can_be_worker()) return no_worker(name);
      tool = tools::isolate(std::move(tool), {.configuration = text});
    }
    if (auto done = out->add(std::move(tool)); !done)
      return unexpected{std::move(done.error())};
  }
  return out;
}

void warm_up_tools(const tools::registry& tools,
                   const std::filesystem::path& guard_dir) {
  for (const auto& name : tools.names())
    if (const auto isolated =
            std::dynamic_pointer_cast<tools::isolated_tool>(*tools.find(name)))
      isolated->warm_up(guard_dir);
}

namespace {

/// What a child must know of a model: what it must not show.
config::model_config key_names(const config::model_config& x) {
  config::model_config out;
  out.api_key_env = x.api_key_env;
  out.headers = x.headers;
  return out;
}

}  // namespace

std::string worker_configuration(const config::config& config) {
  config::config out;
  out.tools = config.tools;
  std::erase_if(out.tools.by_name, [](const auto& x) {
    return !x.second.type.empty();  // commands run in processes anyway
  });
  for (const auto& [name, model] : config.models)
    out.models[name] = key_names(model);
  return config::to_toml(out);
}

expected<tools::tool_ptr> make_worker_tool(
    const std::string& configuration, const std::string& name,
    std::vector<tools::tool_ptr> others) {
  config::load_request request;
  request.text = configuration;
  auto config = config::load(request);
  if (!config)
    return unexpected{error{errc::invalid_config, "worker",
                            "the configuration that came is not valid: " +
                                render(config.error().front())}};
  auto registry = make_plain_registry(*config, std::move(others));
  if (!registry) return unexpected{std::move(registry.error())};
  if (const auto* found = (*registry)->find(name)) return *found;
  return unexpected{
      error{errc::invalid_config, "worker",
            "the child process has no tool `" + name +
                "`: give riffle::worker_main the same tools as the runtime"}};
}

}  // namespace riffle
