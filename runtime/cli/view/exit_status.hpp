// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "messages/error.hpp"
#include "messages/event.hpp"

namespace riffle::cli {

/// The exit statuses of the contract.
enum exit_status : int {
  completed = 0,
  failed = 1,
  usage = 2,
  unasked = 3,
  out_of_time = 124,
  interrupted_by_user = 130,
};

/// For a run that ended, by its status and the error it ended with.
/// `nobody_asked`: calls were denied since nobody could be asked.
exit_status status_of(events::run_status status, std::optional<errc> failure,
                      bool nobody_asked = false) noexcept;

/// For several tasks: 130, 124, 1, 3, 0, the first that one of them has; 2
/// counts as 1.
exit_status status_of(const std::vector<exit_status>& all);

/// For something that never became a run.
exit_status status_of(errc failure) noexcept;

}  // namespace riffle::cli
