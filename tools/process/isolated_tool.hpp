// SPDX-License-Identifier: MIT
#pragma once

// A tool whose calls run in child processes, so that a crash costs one worker.

#include <memory>
#include <string>

#include "tools/tool.hpp"

namespace riffle::tools {

struct isolation_options {
  /// What the child makes the tool from, see `tool_maker`.
  std::string configuration;
  /// A child that is not used for so long ends; one stays.
  duration child_idle = std::chrono::seconds{60};
  /// The program that is started; see `process_request::guard_program`.
  std::string program = "/proc/self/exe";
};

/// `spec`, `title`, `keys`, `subject` and `preview` are the tool's own, on this
/// side; `run` hands the call to a child, and throws when the child is lost:
/// that costs the worker, whose supervisor decides about a repetition.
class isolated_tool : public tool {
 public:
  /// Starts a child before the first call comes, and again after one was lost.
  /// Does not wait. `guard_dir`: for the lock files of children; those that
  /// dead runtimes left there are removed. Empty: no crash protection.
  virtual void warm_up(std::filesystem::path guard_dir) = 0;
  /// Children that live now.
  [[nodiscard]] virtual std::size_t children() const = 0;
};

std::shared_ptr<isolated_tool> isolate(tool_ptr inner,
                                       isolation_options options);

}  // namespace riffle::tools
