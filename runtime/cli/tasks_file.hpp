// SPDX-License-Identifier: MIT
#pragma once

// Tasks from a file: `riffle run --tasks-file`. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace riffle::cli {

/// A task, and what it says over the command line.
struct listed_task {
  std::string task;
  std::optional<std::string> agent{};
  std::optional<std::string> model{};
  std::optional<std::string> context{};
  std::optional<std::string> session{};
  std::vector<std::string> attachments{};  ///< files

  bool operator==(const listed_task&) const = default;
};

/// A task for each line; blank lines and lines that begin with '#' are left
/// out. A line that begins with '{' is a JSON object with `task` and, if
/// wanted, `agent`, `model`, `context`, `session`, `attachments` (a list of
/// files). A text that begins with '['
/// is one JSON array of such objects, or of texts. Fails with
/// `invalid_request`: `name`, the place, what is wrong.
expected<std::vector<listed_task>> parse_tasks(std::string_view text,
                                               const std::string& name);

}  // namespace riffle::cli
