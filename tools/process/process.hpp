// SPDX-License-Identifier: MIT
#pragma once

// Runs a program under a guard. Blocks; for the blocking executor.

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "tools/lease.hpp"
#include "tools/process/pid_space.hpp"

namespace riffle::tools {

struct process_request {
  std::vector<std::string> command;      ///< the first is looked up in PATH
  std::filesystem::path folder;          ///< where it runs
  std::vector<std::string> environment;  ///< "NAME=value", all of it
  /// Its standard input, borrowed until it has started; -1: empty.
  int input = -1;
  /// From SIGTERM to SIGKILL.
  duration kill_grace = std::chrono::milliseconds{500};
  pid_space space = pid_space::automatic;
  /// Locked until no process of this attempt lives; empty: none. Removed
  /// when the attempt ended in an orderly way.
  std::filesystem::path lock;
  std::optional<time_point> deadline;
  lease_ptr lease;  ///< null: it lives as long as this process
  /// The program that has `run_guard_if_asked` in its `main`.
  std::string guard_program = "/proc/self/exe";
};

enum class output_stream { out, err };

/// Who reads along. Called on the thread that runs the process.
class process_listener {
 public:
  virtual ~process_listener() = default;

  /// Any bytes, in the order in which they came; never empty.
  virtual void on_output(output_stream from, std::string_view bytes) = 0;

  /// Nothing came for a tenth of a second.
  virtual void on_quiet() {}
};

/// How the program ended; by then none of its descendants lives.
struct process_end {
  enum class why { exited, signalled, timed_out, cancelled };
  why how = why::exited;
  int exit_code = 0;  ///< if it exited (also after it was asked to end)
  int signal = 0;     ///< the signal that ended it; 0: none

  bool operator==(const process_end&) const = default;
};

/// Runs the program until it and all its descendants have ended. The stop
/// token or the deadline ends them all: SIGTERM, after the grace SIGKILL.
/// What the program leaves behind when it exits is ended in the same way.
///
/// Errors: `invalid_arguments` (command too long, or holds a NUL byte),
/// `tool_execution_error` (cannot be started), `interrupted` (the guard was
/// killed, so the end is unknown), `internal` (processes that outlive SIGKILL
/// by half a minute: stuck in the kernel, still under guard and lock).
expected<process_end> run_process(const process_request& request,
                                  process_listener& listener,
                                  std::stop_token stop);

}  // namespace riffle::tools
