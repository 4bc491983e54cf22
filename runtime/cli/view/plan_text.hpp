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
};

/// `plan`: JSON as `plan_updated` has it; what is no plan has no steps. Of a
/// long plan the steps that are done give way first.
plan_lines plan_text(std::string_view plan);

}  // namespace riffle::cli
