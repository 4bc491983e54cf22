// SPDX-License-Identifier: MIT
#pragma once

// What runs, plans and volleys share while they are shown: questions to a
// person, and how long an end that was asked for is waited for.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/interrupts.hpp"

namespace riffle::cli {

/// What questions are about, and where they stand.
struct asked_work {
  runtime& rt;
  std::string stops = "the run";  ///< what "stop" ends, in words
  /// Ends it, because of this question.
  std::function<void(const events::approval_required&)> stop;
  std::function<void(const std::string&)> show;  ///< writes to the terminal
  chat_prompt* typing = nullptr;  ///< who gets keys that answer nothing
};

/// Nothing without a keyboard: nobody is asked. All that is referred to
/// outlives it.
std::optional<approval_prompt> prompt_for(std::optional<unique_fd>& keyboard,
                                          asked_work work,
                                          const common_options& options,
                                          const interrupts& signals,
                                          const console& io);

/// What a person who was not there can do about it. `it`: "it", "the plan".
void tell_unasked(std::uint32_t calls, const std::string& it,
                  const common_options& options, console& io);

/// For who looks elsewhere, if that is wanted and there is a terminal: a bell,
/// and a note (OSC 9, which kitty, iTerm2, WezTerm, foot and Windows Terminal
/// show on the desktop). `what`: "the run has ended".
void ring(const show_options& show, std::string_view what, console& io);

/// The same at an event that asks a person.
void ring_at_question(const show_options& show, const event& x, console& io);

/// Knows when something that shall end has had its time: time limits of tools
/// are far shorter.
class patience_clock {
 public:
  static constexpr auto settle_limit = std::chrono::seconds{60};

  bool is_over(bool ends) {
    if (!ends) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!until_) until_ = now + settle_limit;
    return now >= *until_;
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> until_;
};

}  // namespace riffle::cli
