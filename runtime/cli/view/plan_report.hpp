// SPDX-License-Identifier: MIT
#pragma once

// What a plan came to, collected from its own log; and its lines for a person.
// Pure.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/event.hpp"

namespace riffle::cli {

class plan_report {
 public:
  /// An event of the plan's log. Gives back a line for standard error, or "".
  std::string on(const event& x);

  [[nodiscard]] const std::optional<events::plan_finished>& finished()
      const noexcept {
    return finished_;
  }

  /// One object: plan_id, session_id, status, answer, error?, steps: [{step,
  /// id, status, output, truncated, error?, run_id?, duration_ms}], unasked?,
  /// duration_ms. `session`: of the steps' runs, "" if none began.
  [[nodiscard]] std::string to_json(const std::string& session,
                                    std::uint32_t unasked) const;

 private:
  std::string step_mark(std::uint32_t step) const;

  std::string plan_;
  std::uint32_t total_ = 0;
  nlohmann::ordered_json steps_ = nlohmann::ordered_json::array();
  std::optional<events::plan_finished> finished_;
};

}  // namespace riffle::cli
