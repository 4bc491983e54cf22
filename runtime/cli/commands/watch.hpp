// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>

#include "runtime/api/riffle.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/interrupts.hpp"

namespace riffle::cli {

/// A run to show, and who can be asked about its calls.
struct watched_run {
  runtime& rt;
  const run& of;
  /// The terminal that questions are read from; nothing: nobody is asked.
  std::optional<unique_fd> keyboard;
  /// Takes what is typed while no question stands there; null: nobody does.
  chat_prompt* typing = nullptr;
  /// Who decides about calls now, where that may change; empty: as it began.
  std::function<approve()> decides = {};
  /// All was approved as it began.
  bool approves_all = false;
};

/// Shows a run from its first event to its end; asks about calls that need
/// approval; cancels it when the user or a closed standard output asks for it.
/// Returns the exit status.
/// While the store has no room, it waits with `room`.
int watch(watched_run x, const common_options& options, show_options show,
          interrupts& signals, room_wait& room, console& io);

}  // namespace riffle::cli
