// SPDX-License-Identifier: MIT
#include "runtime/cli/choose.hpp"

namespace riffle::cli {

namespace {

template <class Map>
error unknown(const char* what, const std::string& name, const Map& known) {
  std::string names;
  for (const auto& x : known) names += (names.empty() ? "" : ", ") + x.first;
  return {errc::invalid_request,
          "run",
          std::string{"there is no "} + what + " \"" + name +
              "\"; the configuration has: " + names,
          false,
          {}};
}

}  // namespace

expected<void> check_agent(const std::string& agent,
                           const config::config& settings) {
  if (settings.agents.contains(agent)) return {};
  return unexpected{unknown("agent", agent, settings.agents)};
}

expected<void> choose_model(const std::optional<std::string>& model,
                            const std::string& agent,
                            config::config& settings) {
  if (!model) return {};
  if (!settings.models.contains(*model)) {
    return unexpected{unknown("model", *model, settings.models)};
  }
  if (const auto x = settings.agents.find(agent); x != settings.agents.end()) {
    x->second.model = *model;
  }
  return {};
}

void choose_log_level(verbosity level, config::config& settings) {
  auto& log = settings.runtime.log.level;
  if (log == "off" || level == verbosity::verbose) return;
  if (level == verbosity::quiet) {
    log = "error";
  } else if (log == config::log_config{}.level) {
    log = "warn";
  }
}

}  // namespace riffle::cli
