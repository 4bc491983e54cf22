// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

/// Feeds events of one run.
struct told_run {
  explicit told_run(verbosity level = verbosity::normal)
      : traces{{level, false, true, false, true}} {}

  std::string operator()(events::body body) {
    event x;
    x.run = {"run_1"};
    x.body = std::move(body);
    return traces.on(x);
  }

  trace_writer traces;
};

inline events::tool_call made_call(const std::string& tool,
                                   const std::string& arguments) {
  events::tool_call x;
  x.id = {"call_1"};
  x.tool = tool;
  x.title = "Doing it";
  x.arguments = arguments;
  return x;
}

inline events::tool_result its_end(outcome how, std::uint64_t ms) {
  events::tool_result x;
  x.id = {"call_1"};
  x.tool = "any";
  x.how = how;
  x.duration_ms = ms;
  x.attempts = 1;
  return x;
}

}  // namespace riffle::cli
