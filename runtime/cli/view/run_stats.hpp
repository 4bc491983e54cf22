// SPDX-License-Identifier: MIT
#pragma once

// What runs cost: tokens, money, time of tools, retries. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/event.hpp"

namespace riffle::cli {

/// "$0.0450"
[[nodiscard]] std::string money_text(double usd);

class run_stats {
 public:
  /// The events of one run, or of several in turn; live text may be left out.
  void on(const event& x);
  /// A task was run again so often.
  void run_again(std::uint64_t times);

  /// Another run's are counted too.
  void add(const run_stats& x);

  [[nodiscard]] token_usage usage() const;

  /// Lines for people, each behind "[STATS] ". `whose`: of several runs; empty:
  /// how the last one ended.
  [[nodiscard]] std::string to_text(std::string_view whose = {}) const;

  /// [{name, calls, failures, duration_ms}]
  [[nodiscard]] nlohmann::ordered_json tools_json() const;

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
  std::uint64_t calls_ = 0;
  events::run_finished end_;  ///< of the last one, with the sums of all
  token_usage open_;          ///< of steps of a run that has not ended
};

}  // namespace riffle::cli
