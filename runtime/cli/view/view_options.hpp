// SPDX-License-Identifier: MIT
#pragma once

// How what goes on is shown to a person.

#include <cstddef>

#include "messages/time.hpp"
#include "runtime/cli/options.hpp"

namespace riffle::cli {

struct view_options {
  verbosity level = verbosity::normal;
  bool color = false;
  bool out_terminal = false;  ///< the answer goes to a terminal
  bool live_text = false;     ///< the text of the model as it comes
  bool rendered = false;      ///< its Markdown as people see it
  bool styled = false;        ///< and with styles
  bool status = false;        ///< standard error is a terminal that can erase
  bool reasoning = false;
  bool stats = false;
  bool ascii = false;  ///< the terminal does not show UTF-8
  bool asks = false;   ///< questions show which calls need approval
  /// When somebody began to watch at this terminal.
  wall_time since = {};
};

/// Of the terminal; 0: none.
struct view_size {
  std::size_t columns = 0;
  std::size_t rows = 0;

  bool operator==(const view_size&) const = default;
};

}  // namespace riffle::cli
