// SPDX-License-Identifier: MIT
#pragma once

// The subcommands. Each returns the exit status.

#include <optional>
#include <string_view>

#include "messages/error.hpp"
#include "runtime/cli/fd_writer.hpp"
#include "runtime/cli/options.hpp"

namespace riffle::cli {

/// Standard output and standard error.
struct console {
  fd_writer out{1};
  fd_writer err{2};

  /// "riffle: message" and a line end, on standard error.
  void complain(std::string_view message);

  /// Says, once, why standard output cannot be written, if it cannot. A reader
  /// that went away is no reason for a message.
  void complain_of_output();

  bool told_of_output = false;  ///< by `complain_of_output`
};

int execute(const leave_command& x, console& io);
int execute(const run_command& x, console& io);
int execute(const resume_command& x, console& io);
int execute(const sessions_command& x, console& io);
int execute(const proposals_command& x, console& io);
int execute(const tools_command& x, console& io);
int execute(const events_check_command& x, console& io);
int execute(const config_command& x, console& io);

/// The configuration of a command; prints all mistakes and returns nothing if
/// it has any.
std::optional<config::config> load_config(const common_options& options,
                                          console& io);

/// Prints why something did not start, and what to do. Returns the status.
int report(const error& x, console& io);

}  // namespace riffle::cli
