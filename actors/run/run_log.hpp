// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "messages/event.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

/// What the log says of an event; `text` is empty if it says nothing. No
/// content of the conversation, no arguments.
struct run_log_line {
  log_level level = log_level::info;
  std::string text;

  bool operator==(const run_log_line&) const = default;
};

run_log_line log_line_of(const events::body& x);

/// Writes that line, behind the run's id; a JSON line names run, session, call
/// and tool too.
void log_event(const run_id& run, const session_id& session,
               const events::body& x);

/// Writes a line of `op` "run", behind the run's id.
void log_run(log_level level, const run_id& run, std::string_view text);

}  // namespace riffle
