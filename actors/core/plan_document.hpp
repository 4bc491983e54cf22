// SPDX-License-Identifier: MIT
#pragma once

// A plan that a person or a program gives: steps that are executed one after
// the other. (The plan that an agent keeps for itself is core/plan.hpp.)

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "messages/time.hpp"

namespace riffle::core {

/// What follows when a step has failed.
enum class step_policy : std::uint8_t { stop, go_on, retry };

/// In the plan's text: "stop", "continue", "retry".
std::string_view to_string(step_policy x) noexcept;

struct planned_step {
  std::string id;           ///< unique; its place ("1", "2" …) if none is given
  std::string instruction;  ///< for an agent; empty: a tool is called
  std::string tool;
  std::string arguments = "{}";           ///< a JSON object
  std::vector<std::size_t> depends_on{};  ///< places of earlier steps, from 0
  std::vector<std::size_t> refers_to{};   ///< whose output it needs; the same
  step_policy on_error = step_policy::stop;
  duration timeout{};  ///< 0: none

  bool operator==(const planned_step&) const = default;
};

struct plan_document {
  std::vector<planned_step> steps{};
  duration timeout{};              ///< of the whole plan; 0: none
  bool require_streaming = false;  ///< else `agent_not_streaming`

  bool operator==(const plan_document&) const = default;
};

/// The most steps of a plan, and the longest text that references may make of
/// an instruction or an argument, in bytes.
inline constexpr std::size_t most_plan_steps = 100'000;
inline constexpr std::size_t longest_step_text = 32u << 20;

struct plan_mistake {
  std::string pointer;  ///< JSON pointer: "/steps/2/tool"
  std::string text;

  bool operator==(const plan_mistake&) const = default;
};

/// What is wrong with a call of a tool, or nothing (empty). `arguments`: JSON;
/// null if they hold references, so that nobody can tell yet.
using tool_check = std::function<std::string(const std::string& tool,
                                             const std::string* arguments)>;

/// A plan from its value, with all mistakes; one that has any is not to be
/// used. Steps may refer to earlier ones only, by `depends_on` and by
/// `{{steps.ID.output}}` in instructions and in texts of arguments.
struct read_plan {
  plan_document plan;
  std::vector<plan_mistake> mistakes;
};
read_plan read_plan_document(const nlohmann::json& root,
                             const tool_check& check);

/// The output of the step at this place, as it is.
using step_outputs = std::function<const std::string&(std::size_t step)>;

/// The instruction with outputs in the place of references. Fails, in words,
/// if it becomes longer than `longest_step_text`.
tl::expected<std::string, std::string> fill_in_instruction(
    const plan_document& plan, std::size_t step, const step_outputs& outputs);

/// The same for the texts in a step's arguments; the whole as JSON.
tl::expected<std::string, std::string> fill_in_arguments(
    const plan_document& plan, std::size_t step, const step_outputs& outputs);

}  // namespace riffle::core
