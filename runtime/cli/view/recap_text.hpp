// SPDX-License-Identifier: MIT
#pragma once

// For who goes on: the end of a conversation, and what a crash left unknown.
// Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/storage/records.hpp"

namespace riffle::cli {

struct recap_options {
  std::size_t columns = 80;
  bool rendered = false;   ///< Markdown as people see it
  bool styled = false;     ///< and with styles
  bool worked_on = false;  ///< what did not end works in another process
  /// To finish what did not end: that says so, and shows what it has said.
  bool offer_follows = false;
  /// What that process waits for, and how it is answered; empty: for nobody.
  std::string question{};
  /// Why the last run failed; empty: nobody knows.
  std::string failure{};
  /// What the last run's step has said that did not end: no message has it.
  std::string cut{};
};

/// The title that a person gave it, or how it began.
std::string title_of(const storage::session_snapshot& x);

/// Its title, and the last two tasks with what came of them: the end of each
/// answer, as it looked.
std::string recap_text(const storage::session_snapshot& x,
                       const recap_options& how);

/// What that leaves to an offer that was declined: all that came of the last
/// task, as it came; of much the end.
std::string declined_text(const storage::session_snapshot& x,
                          const recap_options& how);

/// The calls of a run that were under way when its process ended, and that do
/// not run again: they may have acted.
std::vector<const storage::call_record*> cut_calls(
    const storage::session_snapshot& x, const run_id& run);

/// Their names, a line each; of many the first. Empty: there are none.
std::string cut_calls_text(const std::vector<std::string>& names,
                           std::size_t columns);

}  // namespace riffle::cli
