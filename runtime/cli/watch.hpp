// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/interrupts.hpp"

namespace riffle::cli {

/// Shows a run from its first event to its end; cancels it when the user or a
/// closed standard output asks for it. Returns the exit status.
int watch(const run& x, const common_options& options, show_options show,
          interrupts& signals, console& io);

}  // namespace riffle::cli
