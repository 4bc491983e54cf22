// SPDX-License-Identifier: MIT
// What a process of the runtime's own does before anything else, and last.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/base/file_limit.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/first_model.hpp"
#include "tools/process/orphans.hpp"

namespace riffle {

namespace {

/// A person wants some program to see it.
bool is_shown(const config::config& config, const std::string& variable) {
  const auto has = [&](const std::vector<std::string>& env) {
    return std::ranges::find(env, variable) != env.end();
  };
  return std::ranges::any_of(
             config.mcp, [&](const auto& x) { return has(x.second.env); }) ||
         std::ranges::any_of(config.tools.by_name, [&](const auto& x) {
           return has(x.second.program.env);
         });
}

/// Of an address, or of what comes behind its scheme ("me:secret@host").
bool says_user(std::string_view value) {
  const bool whole = value.find("://") != value.npos;
  return config::holds_user(whole ? std::string{value}
                                  : "http://" + std::string{value});
}

/// An address may stand in a variable whole, with its user.
void take_users(const config::model_config& model) {
  for (const auto& name : config::variables_in(model.base_url)
                              .value_or(std::vector<std::string>{}))
    if (const char* value = std::getenv(name.c_str());
        value && says_user(value))
      take_key(name);
}

/// So may that of a provider, which the environment says.
void take_place(const config::config& config, const config::provider& known) {
  const auto name = service::place_variable(known);
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  if (value && says_user(value) && !is_shown(config, name)) take_key(name);
}

}  // namespace

void own_process(const config::config& config) {
  tools::adopt_orphans();
  for (const auto& [name, model] : config.models) {
    for (const auto& variable : config::key_variables(model))
      take_key(variable);
    take_users(model);
  }
  // A request may name a model of any provider that is known, later.
  for (const auto& known : config::providers()) {
    for (const auto& variable : config::key_variables(known.settings))
      if (!is_shown(config, variable)) take_key(variable);
    take_place(config, known);
  }
  for (const auto& [name, server] : config.mcp)
    for (const auto& variable : config::key_variables(server))
      take_key(variable);
  // With it a command could approve its own calls over HTTP.
  if (!config.server.token_env.empty()) take_key(config.server.token_env);
  refuse_tracing();
  outlive_file_limit();
}

/// What is left of them goes on elsewhere, or at the next start.
void node::let_go_of_runs() {
  if (auto ok = journal_->leave_runs(); !ok)
    log_warn("node", "what is left counts as cut off: " + render(ok.error()));
}

}  // namespace riffle
