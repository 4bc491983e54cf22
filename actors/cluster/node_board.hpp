// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "actors/core/placement.hpp"
#include "runtime/base/clock.hpp"

namespace riffle {

/// `core::placement` for all runs of a process: dispatchers ask it where an
/// attempt goes, the gate says which nodes there are. Thread-safe; each call
/// returns at once.
class node_board {
 public:
  explicit node_board(wall_clock wall = system_wall_time)
      : wall_{std::move(wall)} {}

  void set_rule(const std::string& tool, core::placement_rule rule);
  void add(const std::string& node, const std::vector<std::string>& labels,
           const std::string& tool, std::uint32_t places);
  std::set<std::string> remove(const std::string& node, const std::string& why,
                               bool hold);
  void end_hold(const std::string& node, const std::string& tool);
  void add_unused(const std::string& node, const std::string& tool,
                  const std::string& why);
  void set_load(const std::string& node, const std::string& tool,
                std::uint32_t calls);

  /// See `core::placement`.
  expected<std::string> choose(const std::string& tool, const run_id& run,
                               const session_id& session, const call_id& call);
  void remember(const std::string& tool, const session_id& session,
                const std::string& node);
  bool on_refused(const call_id& call);
  void release(const call_id& call);
  void release_run(const run_id& run);
  [[nodiscard]] bool has(const std::string& tool) const;
  [[nodiscard]] error problem(const std::string& tool) const;

  /// How long a node may still run what it was given, if it hears nothing.
  void set_timeout(duration x);
  [[nodiscard]] duration timeout() const;

 private:
  const wall_clock wall_;
  mutable std::mutex mutex_;
  core::placement places_;
  duration timeout_{};
};

}  // namespace riffle
