// SPDX-License-Identifier: MIT
#include "runtime/cli/view/limits_text.hpp"

#include "messages/duration_text.hpp"

namespace riffle::cli {

std::string limits_text(const config::config& settings,
                        const std::string& agent,
                        const resume_options& choices) {
  const auto& of = settings.agents.at(agent);
  return "[LIMITS] " +
         std::to_string(choices.max_steps.value_or(of.max_steps)) + " steps, " +
         std::to_string(of.max_calls_in_flight) + " calls at once, timeout " +
         (choices.timeout.count() == 0 ? "none"
                                       : duration_text(choices.timeout)) +
         " (all: riffle config show)\n";
}

}  // namespace riffle::cli
