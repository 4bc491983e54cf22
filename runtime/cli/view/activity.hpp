// SPDX-License-Identifier: MIT
#pragma once

// What a run does at the moment, as one line. Pure.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "messages/time.hpp"

namespace riffle::cli {

std::uint64_t in_ms(duration x);

class activity {
 public:
  /// The events of one run, in order; live text included.
  void on(const event& x);

  /// Whether a `status` says how far a call is written.
  static bool is_writing(std::string_view status);

  /// The user asked for the end.
  void cancelling() { cancelling_ = true; }

  /// Tools run, or the model writes a call: its text does not go on by itself.
  [[nodiscard]] bool busy() const noexcept {
    return !open_.empty() || writing_;
  }

  /// So long after the run is watched what comes now happens: what counts down
  /// is told from here.
  void seen(duration elapsed) { now_ = elapsed; }

  /// What goes on, without time and tokens, which change all the while; before
  /// all what waits for a person.
  [[nodiscard]] std::string doing(std::size_t columns) const;
  /// When the first was asked for that waits for a decision.
  [[nodiscard]] std::optional<wall_time> asks_since() const;

  /// "⠙ Running: make (3/10: linking) — 12.3s, ~1.2k tokens", at most
  /// `columns` wide. `elapsed`: since the run is watched; the time of tools
  /// counts from when the first of them began to work.
  [[nodiscard]] std::string line(duration elapsed, std::size_t columns) const;

  /// The same about tools alone, in one line; empty: none works.
  [[nodiscard]] std::string tools_line(duration elapsed,
                                       std::size_t columns) const;

  /// The same; tools that run in parallel have a line each, as many as fit
  /// into `rows`, below one that counts them. '\n' between them.
  [[nodiscard]] std::string lines(duration elapsed, std::size_t columns,
                                  std::size_t rows) const;

 private:
  struct open_call {
    call_id id;
    std::string title;
    std::string progress{};
    duration began{};
    std::string name{};  ///< while it waits
  };
  struct undecided_call {
    call_id id;
    std::string name;
    wall_time asked;
  };

  void on(const events::step_start& x);
  void on(const events::step_restarted& x);
  void on(const events::llm_token& x);
  void on(const events::llm_reasoning& x);
  void on(const events::tool_call& x);
  void on(const events::tool_progress& x);
  void on(const events::tool_result& x);
  void on(const events::approval_required& x, wall_time at);
  void on(const events::approval_resolved& x);
  void on(const events::usage& x);
  void on(const events::retry& x);
  void on(const events::status& x);
  template <class T>
  void on(const T&) {}

  /// Text around a time that counts down.
  struct countdown {
    std::string before;
    duration until{};
    std::string after;
  };
  [[nodiscard]] std::string doing(std::size_t columns, duration elapsed) const;
  [[nodiscard]] std::string asks(std::size_t columns) const;
  [[nodiscard]] static std::string whole_row(const open_call& x);
  [[nodiscard]] static std::string row(const open_call& x, std::size_t columns);
  void wait(std::string before, duration length, std::string after = {});
  void say(std::string what);
  [[nodiscard]] std::string said(duration elapsed) const;
  [[nodiscard]] std::string fit_waiting(const std::string& what,
                                        std::size_t columns) const;

  [[nodiscard]] std::string with_time(duration elapsed, std::size_t columns,
                                      const std::string* what) const;
  [[nodiscard]] std::string tools(std::size_t columns) const;
  [[nodiscard]] std::string tokens() const;

  std::string doing_ = "starting";
  std::optional<countdown> until_;  ///< behind `doing_`
  duration now_{};
  std::string step_;                      ///< ", step 2"
  std::deque<open_call> open_;            ///< in order of their beginning
  std::deque<undecided_call> undecided_;  ///< wait for an approval
  std::uint64_t tokens_ = 0;              ///< that it has written, as it says
  std::uint64_t bytes_ = 0;               ///< of text since then
  bool writing_ = false;                  ///< the arguments of a call
  std::optional<duration> spoke_;  ///< the model, which goes on; seen then
  bool cancelling_ = false;
};

}  // namespace riffle::cli
