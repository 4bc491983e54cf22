// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// A plan as a person reads it.
struct plan_lines {
  std::string summary;             ///< "1 of 3 done", "no steps"
  std::vector<std::string> steps;  ///< "✓ look at it", one each
  std::vector<std::string> all;    ///< the same of every step
};

/// `plan`: JSON as `plan_updated` has it; what is no plan has no steps.
/// `before`: `all` of the plan before; `steps` are those that it did not have,
/// all of them if it was empty. Of a long list the steps that are done give
/// way first.
plan_lines plan_text(std::string_view plan,
                     const std::vector<std::string>& before = {});

}  // namespace riffle::cli
