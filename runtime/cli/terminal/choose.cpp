// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/choose.hpp"

#include <utility>
#include <vector>

#include "runtime/service/attachments.hpp"

namespace riffle::cli {

namespace {

template <class Map>
error unknown(const char* what, const std::string& name, const Map& known) {
  std::string text = "there is no ";
  text.append(what).append(" \"").append(name);
  text += "\"; the configuration has: ";
  const auto names = text.size();
  for (const auto& x : known)
    text.append(text.size() == names ? "" : ", ").append(x.first);
  return {errc::invalid_request, "run", std::move(text), false, {}};
}

}  // namespace

expected<void> check_agent(const std::string& agent,
                           const config::config& settings) {
  if (settings.agents.contains(agent)) return {};
  return unexpected{unknown("agent", agent, settings.agents)};
}

expected<void> choose_model(const std::optional<std::string>& model,
                            config::config& settings) {
  if (!model) return {};
  if (auto found = config::find_model(settings, *model)) {
    // As if a table had it: so its key is kept from tools from the start.
    settings.models.emplace(*model, *std::move(found));
    return {};
  }
  return unexpected{error{errc::invalid_request,
                          "run",
                          config::unknown_model(settings, *model),
                          false,
                          {}}};
}

expected<void> check_named(const std::optional<std::string>& agent,
                           const std::optional<std::string>& model,
                           config::config& settings) {
  if (agent)
    if (auto known = check_agent(*agent, settings); !known) return known;
  return choose_model(model, settings);
}

run_request request_of(const run_command& x, std::string task) {
  run_request out;
  out.task = std::move(task);
  if (x.session) out.session = session_id{*x.session};
  if (x.agent) out.agent = *x.agent;
  out.model = x.choices.model;
  out.context = x.context;
  out.phase = x.phase;
  for (const auto& file : x.attachments) out.attachments.push_back({file});
  out.max_steps = x.choices.max_steps;
  out.timeout = x.choices.timeout;
  out.approval = x.choices.approval.value_or(approve::nobody);
  return out;
}

service::surroundings surroundings_of(const std::string& agent,
                                      const config::config& settings,
                                      service::git_answer how) {
  const auto found = settings.agents.find(agent);
  if (found == settings.agents.end()) return {};
  return service::look_around(settings.tools.defaults.workspace,
                              found->second.context_files,
                              service::today_here(), how);
}

expected<void> check_attachments(run_request& x,
                                 const config::config& settings) {
  if (x.attachments.empty()) return {};
  const auto loaded =
      service::load_attachments(x.attachments, settings.attachments);
  if (!loaded) return unexpected{loaded.error()};
  const auto agent = settings.agents.find(x.agent);
  if (agent == settings.agents.end()) return {};
  const auto name = x.model.value_or(agent->second.model);
  const auto model = config::find_model(settings, name);
  if (!model) return {};
  std::vector<attachment> all;
  for (const auto& one : *loaded) all.push_back(one.about);
  return service::check_shown(all, service::shown_types(*model), name);
}

void choose_log_level(verbosity level, config::config& settings) {
  auto& log = settings.runtime.log.level;
  if (log == "off") return;
  if (level == verbosity::quiet) log = "error";
}

}  // namespace riffle::cli
