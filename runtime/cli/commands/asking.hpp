// SPDX-License-Identifier: MIT
#pragma once

// What runs, plans and volleys share while they are watched: questions to a
// person, and how long an end that was asked for is waited for.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/terminal/suspension.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/terminal/window_title.hpp"
#include "runtime/cli/view/work_output.hpp"

namespace riffle::cli {

/// What questions are about, and where they stand.
struct asked_work {
  runtime& rt;
  std::string what = "the run";   ///< that waits for answers, in words
  std::string stops = "the run";  ///< what "stop" ends
  /// Ends it, because of this question.
  std::function<void(const events::approval_required&)> stop;
  chat_prompt* typing = nullptr;  ///< who gets keys that answer nothing
  /// See `approval_prompt::surroundings`.
  std::function<approve()> decides = {};
  /// Which of several tasks a question is of, and `stop` ends; none: of the
  /// one that there is.
  std::function<std::optional<std::size_t>(const proposal_id&)> task_of = {};
};

/// Where nobody can be asked, it is said who can decide.
class open_questions {
 public:
  explicit open_questions(std::string of) : of_{std::move(of)} {}

  void on(const event& x);
  /// Nothing happens: lines for the person, once.
  std::string on_quiet();

 private:
  std::string of_;
  std::set<std::string> open_;
  bool told_ = false;
};

/// Of calls that wait, as many as are worth naming.
inline constexpr std::size_t most_named = 10;

/// "  riffle proposals approve ID", to be copied; of many the first ones.
std::string approve_lines(const std::set<std::string>& ids);

/// Shows what goes on while a person may be asked about it: a question stands
/// below all else, what happens meanwhile above it. All that is referred to
/// outlives it.
class watched_work {
 public:
  /// Shows the next of what comes, waits so long for it; false: nothing came.
  using taker = std::function<bool(std::chrono::milliseconds)>;

  /// Without a keyboard nobody is asked.
  watched_work(work_output& output, std::optional<unique_fd>& keyboard,
               asked_work about, const common_options& options,
               const show_options& show, const interrupts& signals,
               console& io);
  watched_work(const watched_work&) = delete;
  watched_work& operator=(const watched_work&) = delete;

  /// An event that is shown.
  void on(const event& x);
  /// The same, before it is.
  void before(const event& x) {
    if (prompt_) prompt_->before(x);
  }
  /// For about 100 ms.
  void look_once(const taker& take);
  void show_log() { output_.note(log_.take()); }

  /// Questions that nobody answered.
  [[nodiscard]] std::uint32_t unanswered() const {
    return prompt_ ? prompt_->unanswered() : 0;
  }

 private:
  void go_on_above(const taker& take);
  void stop_for_shell();
  void stop_echo();
  void echo_again();

  work_output& output_;
  const show_options show_;
  const interrupts& signals_;
  console& io_;
  window_title title_;
  held_log log_;
  open_questions nobody_;
  chat_prompt* typing_;
  suspension suspension_;
  std::optional<terminal_mode> echo_;  ///< where rows are drawn, without a line
  bool asks_ = false;                  ///< a question stood there, then
  bool came_ = false;                  ///< something did, the last time
  std::optional<approval_prompt> prompt_;
};

/// The end of what a call put out, as far as it is on record.
std::string last_output(runtime& rt, const call_id& id);

/// What a person who was not there can do about it. `it`: "it", "the plan".
void tell_unasked(std::uint32_t calls, const std::string& it,
                  const common_options& options, console& io);

/// For who looks elsewhere, if that is wanted and there is a terminal: a bell,
/// and a note (OSC 9, which kitty, iTerm2, WezTerm, foot and Windows Terminal
/// show on the desktop). `what`: "the run has ended".
void ring(const show_options& show, std::string_view what, console& io);

/// Knows when something that shall end has had its time: time limits of tools
/// are far shorter.
class settle_clock {
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
