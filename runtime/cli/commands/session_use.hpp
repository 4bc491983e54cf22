// SPDX-License-Identifier: MIT
#pragma once

// With which agent and model a session goes on.

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// What a person said.
struct named_use {
  std::optional<std::string> agent{};
  std::optional<std::string> model{};

  auto operator<=>(const named_use&) const = default;
};

struct session_use {
  std::string agent{};
  std::optional<std::string> model{};  ///< over the agent's own
  /// What it had, and what is used now; a line each for a person.
  std::vector<std::string> gone{};

  bool operator==(const session_use&) const = default;
};

/// What is named; else what the session was last used with, if it is there
/// still; else the default. A model belongs to the agent that it was chosen
/// for. It is in `settings` from then on.
session_use use_of(const std::optional<run_request>& last,
                   const named_use& named, config::config& settings);

}  // namespace riffle::cli
