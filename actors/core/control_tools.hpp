// SPDX-License-Identifier: MIT
#pragma once

// The tools that change the run and not the world: handled by the
// orchestrator, without a worker.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/call.hpp"
#include "messages/event.hpp"

namespace riffle::core {

/// What the model is told of a control tool.
struct control_tool {
  std::string_view name;
  std::string_view description;
  std::string_view parameters;  ///< JSON Schema, compact
};

/// `complete`, `manage_plan`, `seek_approval`, `set_phase`.
const std::vector<control_tool>& control_tools();

/// Whether a tool of this name is one.
bool is_control_tool(std::string_view name);

/// What a control call did.
struct control_outcome {
  call_result result;
  std::vector<events::body> events;   ///< plan_updated, proposal, status
  std::optional<std::string> answer;  ///< of `complete`
  std::optional<std::string> plan;    ///< the session's plan from now on
  std::optional<std::string> phase;   ///< and its phase
};

/// What an answer has to be that `complete` gives; as it stands: any text.
struct answer_rule {
  /// The arguments of the call are the answer, and not a text in them.
  bool is_arguments = false;
  /// See `step_limits::answer_problem`; may be empty.
  std::function<std::string(std::string&)> problem{};
};

/// Runs a control call whose arguments are valid for its schema. `plan`: the
/// session's plan, a JSON array, empty if there is none.
control_outcome run_control(const tool_call& call, const std::string& plan,
                            const proposal_id& fresh_id,
                            const answer_rule& rule = {});

/// The answer of a `complete` that went well.
std::string answer_in(const tool_call& call, const answer_rule& rule);

}  // namespace riffle::core
