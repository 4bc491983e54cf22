// SPDX-License-Identifier: MIT
#pragma once

// How full the model's window is, and what fills it. Pure.

#include <cstdint>
#include <string>

#include "runtime/storage/records.hpp"

namespace riffle::cli {

/// Tokens, about; see `core::estimate_tokens`.
struct context_use {
  std::uint64_t window = 0;  ///< that the model takes; 0: any number
  /// Nobody said so: the key that would. Empty: it is known.
  std::string assumed_without = {};
  std::uint64_t instructions = 0;
  std::uint64_t tools = 0;    ///< their descriptions
  std::uint64_t summary = 0;  ///< of what is told no more
  std::uint64_t person = 0;
  std::uint64_t model = 0;    ///< texts and calls
  std::uint64_t outputs = 0;  ///< of tools
  std::uint64_t waits = 0;    ///< goes with the next words
};

/// Adds what was said in a session.
void add_session(context_use& x, const storage::session_snapshot& said);

/// "about 12.3k of 128k tokens (9%)", and a line for each part.
std::string context_text(const context_use& x);

}  // namespace riffle::cli
