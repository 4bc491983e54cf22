// SPDX-License-Identifier: MIT
#pragma once

// `{{steps.ID.output}}` in the texts of a plan. What begins with "{{" and goes
// on in another way than "steps." is text like any.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// A reference, or what was meant to be one.
struct plan_reference {
  std::size_t begin = 0;  ///< of "{{" in the text
  std::size_t end = 0;    ///< behind "}}"
  std::string id;         ///< of the step; empty: see `problem`
  std::string problem;    ///< why it is none; empty if it is one
};

/// All of a text, in order.
std::vector<plan_reference> find_references(std::string_view text);

/// Whether a step can be called so: letters, digits, "_" and "-", at most 64.
bool is_step_id(std::string_view text) noexcept;

}  // namespace riffle::core
