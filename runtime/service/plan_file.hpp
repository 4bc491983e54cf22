// SPDX-License-Identifier: MIT
#pragma once

// Plans as files: TOML or JSON to a checked plan.

#include <functional>
#include <string>
#include <vector>

#include "actors/core/plan_document.hpp"
#include "messages/error.hpp"
#include "tools/registry.hpp"

namespace riffle::service {

/// A mistake and where it stands.
struct plan_problem {
  std::string place;  ///< "plan.toml:3:5"; without line where that is unknown
  std::string key;    ///< "steps[2].tool"; empty: the whole
  std::string text;
  std::string step{};  ///< "step 3 "build"", as people count; or empty
};

/// `plan.toml:3:5: step 3 "build": tool: there is no tool …`
std::string render(const plan_problem& x);

struct checked_plan {
  core::plan_document document;
  std::string text;                    ///< JSON
  std::vector<plan_problem> problems;  ///< not empty: do not use the rest
};

/// Reads a plan, JSON if its name ends with ".json" or its text begins with
/// "{", else TOML. Tells all mistakes at once, sorted as they stand.
/// `elsewhere`: whether a tool that is not in `tools` may be there all the
/// same, unchecked.
checked_plan read_plan(
    const std::string& text, const std::string& name,
    const tools::registry& tools,
    const std::function<bool(const std::string&)>& elsewhere = {});

/// The same plan as JSON on one line, whatever it was written in; "" if it
/// cannot be read. Two plans are the same if this is.
std::string plan_text(const std::string& text, const std::string& name);

/// `invalid_plan`, with every problem in a line of its own.
error invalid_plan(const std::vector<plan_problem>& problems);

}  // namespace riffle::service
