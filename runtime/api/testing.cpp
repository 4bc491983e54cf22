// SPDX-License-Identifier: MIT
#include "runtime/api/testing.hpp"

#include <mutex>
#include <utility>

#include "tools/registry.hpp"

namespace riffle::testing {

namespace {

constexpr auto longest_run = std::chrono::minutes{1};

unexpected threw(const std::string& tool, const char* what) {
  return unexpected{error{errc::tool_execution_error, tool,
                          std::string{"it threw: "} + what}};
}

}  // namespace

expected<tool_trial> run_tool(const tools::tool_ptr& tool,
                              std::string_view arguments,
                              const trial_options& options) {
  tools::registry registry;
  if (auto added = registry.add(tool); !added)
    return unexpected{std::move(added.error())};
  const auto& name = tool->spec().name;
  auto checked = registry.check(name, arguments);
  if (!checked) return unexpected{std::move(checked.error())};
  tool_trial trial;
  std::mutex mutex;
  tools::tool_context context;
  context.call = {"call_test"};
  context.attempt = options.attempt;
  context.stop = options.stop;
  context.workspace = std::filesystem::absolute(options.workspace);
  context.progress = [&](tool_progress_report x) {
    const std::lock_guard lock{mutex};
    trial.progress.push_back(std::move(x));
  };
  try {
    trial.title = tool->title(checked->value);
    trial.keys = tool->keys(checked->value, context.workspace);
    trial.subject = tool->subject(checked->value, context.workspace);
    trial.preview = tool->preview(checked->value, context.workspace).text;
    trial.output = tool->run(checked->value, context);
  } catch (const std::exception& e) {
    return threw(name, e.what());
  } catch (...) {
    return threw(name, "something that is no std::exception");
  }
  return trial;
}

expected<agent_trial> run_agent(std::vector<tools::tool_ptr> tools,
                                std::string script, std::string task) {
  config::config config;
  config.runtime.log.level = "error";
  config.models["default"].dialect = "scripted";
  auto& names = config.agents["default"].tools;
  names.clear();
  for (const auto& tool : tools)
    if (tool) names.push_back(tool->spec().name);
  runtime_options options;
  options.tools = std::move(tools);
  options.journal = storage::make_memory_journal();
  options.scripts["default"] = std::move(script);
  auto made = runtime::create(std::move(config), std::move(options));
  if (!made) return unexpected{std::move(made.error())};
  run_request request;
  request.task = std::move(task);
  request.timeout = longest_run;
  request.approval = approve::all;
  auto outcome = made->execute(std::move(request));
  if (!outcome) return unexpected{std::move(outcome.error())};
  auto log = made->events(outcome->run);
  if (!log) return unexpected{std::move(log.error())};
  agent_trial trial{std::move(*outcome), {}};
  while (auto batch = log->next(longest_run))
    batch->for_each([&](const event_view& x) {
      if (auto parsed = x.parse()) trial.events.push_back(std::move(*parsed));
    });
  return trial;
}

}  // namespace riffle::testing
