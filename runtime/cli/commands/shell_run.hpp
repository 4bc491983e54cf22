// SPDX-License-Identifier: MIT
#pragma once

// A command that a person runs by the way: `!COMMAND`.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace riffle::cli {

struct shell_result {
  int status = 0;  ///< 128 + N: ended by signal N
  std::string output{};
  std::uint64_t wrote = 0;   ///< bytes that there were
  bool ended_by_us = false;  ///< it was killed, as it went on
  bool left_some = false;    ///< something that it began can write still
};
inline constexpr std::size_t longest_kept = 64u << 10;

/// A text that is longer has a note in place of its middle.
std::string both_ends_of(std::string_view text);

/// Who watches it.
struct shell_watch {
  std::function<void(std::string_view)> show;
  /// Somebody wants its end: a Ctrl-C, which it has got from the terminal …
  std::function<bool()> stopped = [] { return false; };
  /// … once more …
  std::function<bool()> insists = [] { return false; };
  /// … or a signal for this process, which is passed on.
  std::function<bool()> leaves = [] { return false; };
  /// Called once, if it is still at work two seconds behind the first wish.
  std::function<void()> lingers = [] {};
};

/// Runs a command in a shell, at the terminal, with nothing to read; its output
/// is shown and comes back, at most `longest_kept` bytes of it with a note of
/// what is left out. Comes back when the shell has ended, whatever works on
/// behind it. It has the time that it takes to end; two seconds after somebody
/// insists, or this process has to leave, it is killed with its children.
expected<shell_result> run_shell(const std::string& command,
                                 const shell_watch& watch);

}  // namespace riffle::cli
