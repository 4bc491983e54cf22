// SPDX-License-Identifier: MIT
#include "runtime/cli/view/limits_text.hpp"

#include "actors/core/control_tools.hpp"
#include "messages/duration_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

std::string or_none(duration x) {
  return x.count() == 0 ? "none" : duration_text(x);
}

std::string or_none(std::uint32_t x) {
  return x == 0 ? "no limit" : std::to_string(x);
}

std::string of_run(const config::config& x, const config::agent_config& agent,
                   const resume_options& choices) {
  return "[LIMITS] run: " +
         std::to_string(choices.max_steps.value_or(agent.max_steps)) +
         " steps, " + std::to_string(agent.max_calls_in_flight) +
         " calls at once, timeout " + or_none(choices.timeout) +
         "; process: " + std::to_string(x.runtime.max_calls) +
         " calls at once, runs: " + or_none(x.runtime.max_runs);
}

/// What becomes of a call: nobody is asked about what only reads, nor about
/// tools that act on the run only.
std::string approval_text(const std::string& name,
                          const config::tools_config& all) {
  if (core::is_control_tool(name)) return "runs";
  const bool reads = all.of(name).type.empty()
                         ? name == "read" || name == "glob" || name == "grep" ||
                               name == "fetch"
                         : all.of(name).program.effect == "read_only";
  const auto text =
      all.approval_of(name, reads ? effect::read_only : effect::mutating);
  return text == "allow" ? "runs" : text;
}

/// What people ask for most; 'riffle config show' has all.
std::string of_tool(const std::string& name, const config::tools_config& all) {
  const auto& x = all.of(name);
  auto out = "; " + safe_line(name, 64) + ": " + std::to_string(x.concurrency) +
             " at once, " + or_none(x.timeout) + ", " +
             approval_text(name, all);
  if (!x.rules.empty()) out += ", rules: " + std::to_string(x.rules.size());
  return out;
}

}  // namespace

std::string limits_text(const config::config& settings,
                        const std::string& agent,
                        const resume_options& choices) {
  const auto& of = settings.agents.at(agent);
  auto out = of_run(settings, of, choices);
  for (const auto& tool : of.tools) out += of_tool(tool, settings.tools);
  return out + "\n";
}

}  // namespace riffle::cli
