// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/interrupts.hpp"
#include "tools/process/unique_fd.hpp"

namespace riffle::cli {

/// A run to show, and who can be asked about its calls.
struct watched_run {
  runtime& rt;
  const run& of;
  /// The terminal that questions are read from; nothing: nobody is asked.
  std::optional<tools::unique_fd> keyboard;
};

/// Shows a run from its first event to its end; asks about calls that need
/// approval; cancels it when the user or a closed standard output asks for it.
/// Returns the exit status.
int watch(watched_run x, const common_options& options, show_options show,
          interrupts& signals, console& io);

}  // namespace riffle::cli
