// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "messages/time.hpp"
#include "tools/registry.hpp"

namespace riffle::tools {

/// The tools of this process, and those that nodes and servers have just now: a
/// registry that is replaced as a whole, so that who has one keeps it while
/// they come and go. Thread-safe.
class catalog {
 public:
  explicit catalog(std::shared_ptr<const registry> own);

  [[nodiscard]] std::shared_ptr<const registry> now() const;

  /// All that nodes offer from now on. What this process has itself, and what
  /// is no tool, is left out.
  void set_remote(std::vector<tool_ptr> all);
  /// The same of servers.
  void set_served(std::vector<tool_ptr> all);

  /// Nodes were dialled: what they have may be here soon, at the latest then.
  void expect_nodes(std::chrono::steady_clock::time_point until);
  /// Each of them has said what it has, or cannot be reached.
  void on_nodes_known();

  /// Whether this process has it itself.
  [[nodiscard]] bool has_own(const std::string& name) const;

  /// Waits until there are tools with all these names, at most `limit`, and
  /// until the nodes are known, so that the first calls of a run are spread
  /// over all of them; no name, no wait, and none once `stop` is asked for.
  /// False: a tool is missing.
  bool wait_for(const std::vector<std::string>& names, duration limit,
                const std::stop_token& stop = {}) const;
  /// Whether that would not return at once.
  [[nodiscard]] bool would_wait(const std::vector<std::string>& names) const;

 private:
  void set(std::vector<tool_ptr> catalog::* which, std::vector<tool_ptr> all);
  [[nodiscard]] bool has(const std::vector<std::string>& names) const;

  const std::shared_ptr<const registry> own_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::shared_ptr<const registry> now_;
  std::vector<tool_ptr> remote_;
  std::vector<tool_ptr> served_;
  /// Until then nodes may still come that were dialled; nothing: all are known.
  std::optional<std::chrono::steady_clock::time_point> known_by_;
};

}  // namespace riffle::tools
