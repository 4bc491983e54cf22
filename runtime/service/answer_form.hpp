// SPDX-License-Identifier: MIT
#pragma once

// Answers that are JSON of a form that was asked for.

#include <functional>
#include <string>

#include "messages/error.hpp"

namespace riffle::service {

/// Leaves in the text the JSON that it holds, without a fence of Markdown
/// around it. Gives back what is wrong with it, for the model; empty: it fits.
using answer_check = std::function<std::string(std::string&)>;

/// Fails with `invalid_request` if `schema` is no JSON Schema of an object.
/// The check may be called on any thread, one call at a time.
expected<answer_check> make_answer_check(const std::string& schema);

/// Whether a call of a tool can hold such an answer as its arguments: servers
/// take an object with its members, and nothing beside them.
bool can_be_arguments(const std::string& schema);

/// The tool `complete` where its answer has a form: its arguments, or a text in
/// them that holds the JSON.
std::string complete_parameters(const std::string& schema);
std::string complete_description(const std::string& schema);

}  // namespace riffle::service
