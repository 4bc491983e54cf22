// SPDX-License-Identifier: MIT
#pragma once

// Lines of the log for a person at a terminal who watches a run.

#include <set>
#include <string>

#include "runtime/base/log.hpp"

namespace riffle::cli {

/// What servers say and what becomes of them is told in words, each cause of a
/// server once: the field `cause` of a line, else its message without numbers.
/// All else, and all of a log of JSON, stays as the log has it.
class log_text {
 public:
  explicit log_text(bool color) : color_{color} {}

  /// A whole line, "[MCP] files: it ended with exit status 1"; "": that was
  /// told.
  std::string on(const log_line& x);

 private:
  bool color_;
  std::set<std::string> told_;
};

}  // namespace riffle::cli
