// SPDX-License-Identifier: MIT
#pragma once

// The one checker of the contract's promises 1 to 4 on recorded events.

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "messages/event.hpp"
#include "messages/run_check.hpp"

namespace riffle {

struct violation {
  std::uint64_t line = 0;  ///< from 1; at the end of a log: its last line
  std::uint64_t seq = 0;   ///< 0 if the line could not be read
  int promise = 0;         ///< 1 to 4; a line that is no event breaks 1
  std::string text;

  bool operator==(const violation&) const = default;
};

/// `line 12, seq 12: promise 2: call c has no tool_result`
std::string render(const violation& x);

struct event_check_options {
  /// A log that ends before its run_finished is no violation.
  bool allow_unfinished = false;
};

/// Is shown the lines of logs of runs: one after the other, or mixed as a
/// plan mixes its log with those of its steps and a volley those of its tasks.
/// Ids of calls are unique over all of them. Keeps what it knows of each run.
class event_checker {
 public:
  explicit event_checker(event_check_options options = {});

  /// At most one violation each line, the first that is found. After one it
  /// goes on; what it says then may follow from the first.
  std::optional<violation> on_line(std::string_view line);

  /// The same for an event that is no text.
  std::optional<violation> on_event(const event& x);

  /// The logs end here: one violation for each that has no end, in the order
  /// in which they began, or for that there was no event at all.
  [[nodiscard]] std::vector<violation> finish() const;

  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_.size(); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  run_checker::finding check(const event& x);
  run_checker& checker_of(const event& x);
  run_checker::finding check_id(const event& x);
  [[nodiscard]] run_checker::finding check_steps(const run_checker& plan) const;

  event_check_options options_;
  std::deque<run_checker> runs_;  ///< in the order in which they began
  std::unordered_map<std::string, run_checker*> by_id_;
  run_checker* newest_ = nullptr;  ///< of the event before
  std::unordered_map<std::string, const run_checker*> calls_;
  std::uint64_t line_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;  ///< unreadable lines before the first event
};

/// What a check found. The first `max_violations` are kept, all are counted.
struct check_report {
  static constexpr std::size_t max_violations = 100;

  std::uint64_t runs = 0;
  std::uint64_t events = 0;
  std::uint64_t broken = 0;  ///< number of violations
  std::vector<violation> violations;

  [[nodiscard]] bool ok() const noexcept { return broken == 0; }
};

/// Checks a whole log, a line each event.
check_report check_events(std::istream& log, event_check_options options = {});

}  // namespace riffle
