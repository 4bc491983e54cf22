// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/session_use.hpp"

#include "runtime/cli/terminal/choose.hpp"

namespace riffle::cli {

namespace {

std::string gone(const char* what, const std::string& name,
                 const std::string& now) {
  std::string out = "the ";
  out.append(what).append(" of this session, \"").append(name);
  out.append("\", is not in the configuration any more; it goes on with ");
  return out + now;
}

}  // namespace

session_use use_of(const std::optional<run_request>& last,
                   const named_use& named, config::config& settings) {
  session_use out{run_request{}.agent, named.model, {}};
  if (named.agent) out.agent = *named.agent;
  if (!last) return out;
  if (!named.agent && settings.agents.contains(last->agent))
    out.agent = last->agent;
  else if (!named.agent)
    out.gone.push_back(
        gone("agent", last->agent, "the agent \"" + out.agent + "\""));
  if (named.model || !last->model || out.agent != last->agent) return out;
  if (choose_model(last->model, settings)) {
    out.model = last->model;
    return out;
  }
  const auto agent = settings.agents.find(out.agent);
  out.gone.push_back(gone("model", *last->model,
                          agent == settings.agents.end()
                              ? "its agent's own"
                              : "\"" + agent->second.model + "\""));
  return out;
}

}  // namespace riffle::cli
