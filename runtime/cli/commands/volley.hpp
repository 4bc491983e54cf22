// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>

#include "runtime/api/volley.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// A volley to show, and who can be asked about its calls.
struct watched_volley {
  runtime& rt;
  volley& of;
  /// The terminal that questions are read from; nothing: nobody is asked.
  std::optional<unique_fd> keyboard;
  /// What it begins with, for who may lack a key; null: it goes on.
  const config::config* settings = nullptr;
  /// As of a `watched_run`.
  chat_prompt* typing = nullptr;
  std::function<approve()> decides = {};
  /// Nobody is asked, by the person's own word: who goes on is to say so, too.
  bool approves_all = false;
};

/// Shows a volley to its end, as `watch` a run: results on standard output in
/// task order, or events as they come. Returns the exit status.
int watch(watched_volley x, const common_options& options, show_options show,
          interrupts& signals, console& io);

}  // namespace riffle::cli
