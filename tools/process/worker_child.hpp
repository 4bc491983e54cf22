// SPDX-License-Identifier: MIT
#pragma once

// The runtime's side of one child process that runs the calls of a tool.

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "tools/process/guarded_process.hpp"
#include "tools/process/worker_pipe.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// How a call in a child ended.
struct child_call {
  std::optional<tool_output> output;
  std::string lost;     ///< without output: why the child was lost
  bool usable = false;  ///< the child may run another call; else it has ended
};

class worker_child {
 public:
  struct start_options {
    std::string tool;
    std::string configuration;
    std::string program = "/proc/self/exe";
    /// Locked until no process of this child lives; empty: none.
    std::filesystem::path lock;
  };

  /// Starts it and does not wait until it is ready.
  static expected<std::unique_ptr<worker_child>> start(start_options options);

  worker_child(const worker_child&) = delete;
  worker_child& operator=(const worker_child&) = delete;
  ~worker_child();  ///< ends it and waits for that, some seconds at most

  /// Runs one call. Blocks until its result is there, or until it was stopped
  /// or lost and no process of the child lives.
  child_call call(const nlohmann::json& arguments, tool_context& context);

  /// Whether it lives, as far as is known.
  [[nodiscard]] bool lives() const;
  [[nodiscard]] const std::filesystem::path& lock() const noexcept {
    return lock_;
  }

 private:
  friend class child_conversation;
  worker_child(guarded_process process, unique_fd fd, std::string tool,
               std::filesystem::path lock);

  void send(const std::string& message);

  const std::string tool_;
  guarded_process process_;
  unique_fd fd_;
  message_reader reader_;
  const std::filesystem::path lock_;
  std::deque<std::string> unsent_;  ///< packets that did not fit yet
  pid_t pid_ = -1;                  ///< once it said so
  bool ended_ = false;
};

}  // namespace riffle::tools
