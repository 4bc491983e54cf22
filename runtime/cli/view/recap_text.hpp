// SPDX-License-Identifier: MIT
#pragma once

// The end of a conversation, for who goes on with it. Pure.

#include <cstddef>
#include <string>

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
};

/// The title that a person gave it, or how it began.
std::string title_of(const storage::session_snapshot& x);

/// Its title, and the last two tasks with what came of them: the end of each
/// answer, as it looked.
std::string recap_text(const storage::session_snapshot& x,
                       const recap_options& how);

/// What that leaves to an offer that was declined: what came of the last task.
std::string declined_text(const storage::session_snapshot& x,
                          const recap_options& how);

}  // namespace riffle::cli
