// SPDX-License-Identifier: MIT
#pragma once

// The plan of a session: an ordered list of plan steps, each with an id that
// stays the same as long as the plan lives. Stored, and sent in
// `plan_updated`, as a JSON array of {"id", "title", "status"}.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace riffle::core {

inline constexpr std::size_t max_plan_steps = 64;
inline constexpr std::size_t max_plan_title = 300;  ///< characters

/// The arguments of `manage_plan`, as a JSON Schema.
extern const std::string_view plan_schema;

/// What an edit did.
struct plan_edit {
  std::string action;
  std::optional<std::string> plan;  ///< the whole plan, if it changed
  std::string text;                 ///< the plan as the model reads it
};

/// Carries out one call of `manage_plan`. `arguments`: a JSON object that is
/// valid for `plan_schema`; `stored`: the plan so far, empty if there is none.
/// A call that cannot be carried out changes nothing; its error (code
/// `invalid_arguments`) says what would work.
[[nodiscard]] expected<plan_edit> edit_plan(std::string_view arguments,
                                            std::string_view stored);

/// What the model is told of the plan with each request; empty if there is no
/// plan.
[[nodiscard]] std::string plan_note(std::string_view stored);

}  // namespace riffle::core
