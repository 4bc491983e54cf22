// SPDX-License-Identifier: MIT
#pragma once

// The subcommands. Each returns the exit status.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"

namespace riffle::cli {

class waiting_log;

/// Standard output and standard error.
struct console {
  fd_writer out{1};
  fd_writer err{2};

  /// Harmless text for a person on standard error, broken at blanks where a
  /// terminal is too narrow for it.
  void say(std::string_view text);

  /// "riffle: message" and a line end, on standard error. A command that ends
  /// the message (": riffle …") stands below it at a terminal, in one piece, so
  /// that it can be copied.
  void complain(std::string_view message);

  /// Says, once, why standard output cannot be written, if it cannot. A reader
  /// that went away is no reason for a message.
  void complain_of_output();

  bool told_of_output = false;  ///< by `complain_of_output`

  /// Null: the log writes to standard error itself.
  waiting_log* log = nullptr;
};

int execute(const leave_command& x, console& io);
int execute(const run_command& x, console& io);
int execute(const chat_command& x, console& io);
int execute(const volley_command& x, console& io);
int execute(const plan_command& x, console& io);
int execute(const resume_command& x, console& io);
int execute(const sessions_command& x, console& io);
int execute(const proposals_command& x, console& io);
int execute(const tools_command& x, console& io);
int execute(const models_command& x, console& io);
int execute(const events_check_command& x, console& io);
int execute(const config_command& x, console& io);
int execute(const completion_command& x, console& io);
int execute(const serve_command& x, console& io);
int execute(const node_command& x, console& io);
int execute(const nodes_command& x, console& io);
int execute(const cluster_command& x, console& io);
int execute(const mcp_command& x, console& io);
int execute(const init_command& x, console& io);
int execute_trust(const config_command& x, console& io);

struct other_typing;

/// What a command does with its configuration.
enum class config_use : std::uint8_t {
  acts,   ///< an untrusted file is asked about, or nothing is started
  looks,  ///< an untrusted file is left out, and that is said
  again,  ///< of what runs: nothing is taken of a file that is untrusted now
  acts_there,  ///< as `acts`, in a folder that the person did not go to
};

/// The configuration of a command, see config/trust.hpp; prints what is wrong
/// and returns nothing if anything is. `stdin_is_taken`: a person is asked at
/// /dev/tty, not at standard input. `other`: who keeps what that person types
/// and is no answer.
std::optional<config::config> load_config(const common_options& options,
                                          config_use use, bool stdin_is_taken,
                                          console& io,
                                          const other_typing* other = nullptr);

/// Prints mistakes of a configuration, and what became of it by them. Returns
/// the status.
int report(const std::vector<config::mistake>& mistakes, console& io,
           std::string_view effect = "nothing was started");

/// Prints why something did not start, and what to do. Returns the status.
int report(const error& x, console& io);

}  // namespace riffle::cli
