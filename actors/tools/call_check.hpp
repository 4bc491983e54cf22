// SPDX-License-Identifier: MIT
#pragma once

// What the registry and the configuration say of a call: the one place that
// classifies calls, whoever gave their arguments.

#include <optional>
#include <string>

#include "actors/core/dispatch_effects.hpp"
#include "actors/run/run_spec.hpp"
#include "messages/call.hpp"

namespace riffle {

/// What the model, or who decides, is told of a call that a rule denies.
/// `rule`: its pattern, as far as it is known.
error denied_call(const std::string& tool, const std::string& rule);

/// The same, where only a person could tell that no rule denies it.
error doubtful_call(const std::string& tool, const std::string& pattern);

/// Fills in what follows from a call's tool and the text of its arguments
/// (effect, limits, canonical arguments, title, keys, whether it needs
/// approval). The answer is why it must not run, or nothing.
std::optional<error> check_call(const run_spec& spec, tool_call& call,
                                const std::string& text);

/// The call of the proposal that caused this run: a new one, since the proposed
/// one was settled in its own run. Looks at the file system like `check_call`,
/// so it is made with the spec and not by an actor.
tool_call call_of_cause(const run_spec& spec);

/// Only what its text says, for a call that nobody will execute.
void describe_call(tool_call& call, const std::string& text);

/// Whether `check_call` looks at the file system for this call, for a moment
/// or for as long as a network keeps it. If not it is no work for a thread
/// that may block.
bool takes_a_look(const run_spec& spec, const std::string& tool);

/// Why it may not run, whoever agrees to it: a rule of now denies it, or its
/// tool was taken from the agent's list. Looks at the file system for a moment.
std::optional<error> find_refusal(const run_spec& spec, const tool_call& call);

/// The same question once the call is about to begin. Looks at the file system
/// for a moment.
core::judged_call judge(const run_spec& spec, const tool_call& call);

/// The call with other arguments, checked anew: its identity and place stay,
/// the rest follows from them. Fails like `check_call`.
expected<tool_call> edit_call(const run_spec& spec, const tool_call& call,
                              const std::string& arguments);

}  // namespace riffle
