// SPDX-License-Identifier: MIT
#pragma once

// What a run cost: tokens, money, time of tools, retries. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/event.hpp"

namespace riffle::cli {

class run_stats {
 public:
  /// The events of one run; live text may be left out.
  void on(const event& x);

  /// Another run's are counted too.
  void add(const run_stats& x);

  /// Lines for people, each behind "[STATS] ". `whose`: of several runs; empty:
  /// how the one ended.
  [[nodiscard]] std::string to_text(std::string_view whose = {}) const;

  /// {tool_ms, by_tool: {name: {calls, ms, failed}}, retries: {model, tool,
  /// termination}, restarts}.
  [[nodiscard]] nlohmann::ordered_json to_json() const;

 private:
  struct tool_sum {
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;
    std::uint64_t ms = 0;
  };

  [[nodiscard]] std::string tools_text() const;

  std::map<std::string, tool_sum> tools_;
  std::uint64_t tool_ms_ = 0;
  std::map<std::string, std::uint64_t> retries_;
  std::uint64_t restarts_ = 0;
  events::run_finished end_;
};

}  // namespace riffle::cli
