// SPDX-License-Identifier: MIT
#pragma once

// Events as lines that a person reads while a run works. Pure: no I/O, no
// clock.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "messages/event.hpp"
#include "messages/time.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/question_time.hpp"

namespace riffle::cli {

/// In front of what is no trace by itself, so that it cannot pass for one.
inline constexpr std::string_view trace_bar = "    ";

struct trace_options {
  verbosity level = verbosity::normal;
  bool color = false;
  bool progress = true;  ///< lines about calls that are still open
  bool asks = false;     ///< no lines about calls that need approval
  bool tails = false;    ///< the last lines of commands that failed
  bool ascii = false;    ///< names are spelled as questions spell them
  /// When somebody began to watch; what is older was decided at a terminal
  /// that this one takes the place of.
  wall_time since = {};
  bool last_lines = false;  ///< of commands that did something, the last one
};

/// Renders the events of one run, in order. Remembers the calls that are
/// open or asked about, and the error that was shown last: the same one again
/// is counted, and told in one line before whatever comes next.
class trace_writer {
 public:
  explicit trace_writer(trace_options options) : options_{options} {}

  /// Whole lines, or an empty text if there is nothing to show.
  std::string on(const event& x);

  /// Lines are cut to this width from now on. 0, the default: no terminal.
  void set_columns(std::size_t columns) { columns_ = columns; }

  /// The person before this terminal decided it, and sees what comes of it.
  void decided_here(const proposal_id& x) { decided_here_.insert(x); }

  /// Its question stands above what comes next, with all of what it does but
  /// these lines.
  void stands_asked(const proposal_id& x, std::string left_out) {
    if (asked_.contains(x))
      stand_asked_.insert_or_assign(x, std::move(left_out));
  }

  /// See `question_time::text`.
  [[nodiscard]] std::string waited(std::uint64_t ms) const {
    return waited_.text(ms);
  }

  /// What waited for the next event, if none comes soon.
  std::string rest() { return std::exchange(wanted_, {}); }

  /// How often the last error came again since; nothing if it did not. The
  /// end of the run says it by itself.
  std::string repeated();

  /// A line that says that live text shown before is void.
  [[nodiscard]] std::string withdrawn() const;

 private:
  /// Somebody is asked about it.
  struct asked_call {
    std::string tool;
    std::string title;
    std::string arguments;
    std::string name;
  };
  std::string still_wanted();
  std::string denial(const events::approval_resolved& x,
                     const asked_call* about, bool here);
  [[nodiscard]] std::string call_line(std::string_view tool,
                                      std::string_view arguments) const;
  [[nodiscard]] std::string end_line(const std::string& label,
                                     const std::string& rest,
                                     const std::string& time, bool red) const;
  [[nodiscard]] std::string left_out_text(std::string_view lines) const;
  [[nodiscard]] std::string verdict_name(const asked_call& about,
                                         const std::string& changed,
                                         std::string_view how) const;
  struct open_call {
    call_words words;
    std::string label;   ///< "read: README.md"
    wall_time shown;     ///< when a line about it was shown last
    bool moves = false;  ///< a node has it, or was to have it
    std::string title{};
    bool seen = false;               ///< a question has shown what it changes
    bool acts = false;               ///< a command that does not only read
    bool searches = false;           ///< see `is_search`
    std::deque<std::string> told{};  ///< the last lines of its output, as shown
  };
  static void remember(open_call& call, std::string_view line);
  [[nodiscard]] bool is_told(std::string_view status) const;
  /// Below the end of a call, for who wants all: what it changed, or wrote.
  [[nodiscard]] std::string written(const open_call& call,
                                    const events::tool_result& x) const;
  [[nodiscard]] std::string output_text(const open_call& call,
                                        const events::tool_result& x) const;
  [[nodiscard]] std::string last_words(const open_call& call,
                                       const events::tool_result& x) const;
  [[nodiscard]] std::size_t line_room() const;

  std::string on(const events::run_started& x, wall_time at);
  std::string on(const events::step_start& x, wall_time at);
  std::string on(const events::step_restarted& x, wall_time at);
  std::string on(const events::tool_call& x, wall_time at);
  std::string on(const events::tool_progress& x, wall_time at);
  std::string on(const events::tool_result& x, wall_time at);
  std::string on(const events::plan_updated& x, wall_time at);
  std::string on(const events::approval_required& x, wall_time at);
  std::string on(const events::approval_resolved& x, wall_time at);
  std::string on(const events::retry& x, wall_time at);
  std::string on(const events::status& x, wall_time at);
  std::string on(const events::user_message& x, wall_time at);
  std::string on(const events::failure& x, wall_time at);
  std::string on(const events::run_finished& x, wall_time at);
  /// Everything else is no matter of traces.
  template <class T>
  std::string on(const T&, wall_time) {
    return {};
  }

  [[nodiscard]] std::string short_end(const events::run_finished& x,
                                      const std::string& why) const;
  void name_place(const events::tool_result& x);
  std::string shown(const event& x);
  std::string collapsed(const event& x, std::string lines);
  [[nodiscard]] bool verbose() const {
    return options_.level == verbosity::verbose;
  }
  [[nodiscard]] std::string spelled(std::string name) const;
  [[nodiscard]] std::string named(const std::string& label) const;
  [[nodiscard]] std::string bad(const std::string& text) const;
  [[nodiscard]] std::string faint(const std::string& text) const;
  [[nodiscard]] std::string label_of(const call_id& id) const;
  [[nodiscard]] std::string cut(const std::string& label,
                                std::string_view rest) const;
  [[nodiscard]] std::string painted(std::string_view lines) const;
  [[nodiscard]] std::string tag(std::string_view name, bool bad = false) const;

  trace_options options_;
  std::size_t columns_ = 0;
  std::string run_;      ///< of the event that is being shown
  bool before_ = false;  ///< it is older than `since`
  std::unordered_map<call_id, open_call> open_;
  std::unordered_set<call_id> denied_;                 ///< it was said
  std::unordered_map<proposal_id, asked_call> asked_;  ///< not decided
  std::unordered_set<proposal_id> decided_here_;       ///< and not told
  /// Not decided; what their questions had no room for.
  std::unordered_map<proposal_id, std::string> stand_asked_;
  std::unordered_set<call_id> seen_;  ///< all of them, above, and decided
  std::string wanted_;                ///< said unless it is decided at once
  /// The same of questions from before, said with the first event of now.
  std::vector<std::pair<proposal_id, std::string>> old_wanted_;
  call_id outdated_;  ///< its question came to nothing, as `wanted_` says
  std::vector<std::string> plan_;  ///< its steps as they were shown
  std::string failed_;  ///< why what was tried again had failed, the last time
  std::string last_attempt_;  ///< what comes behind that, if it is the last
  std::string told_;          ///< why the last call failed
  std::string why_cancelled_;
  bool elsewhere_ = false;  ///< by another process
  bool why_failed_is_told_ = false;
  question_time waited_;
  std::uint64_t not_begun_ = 0;  ///< calls, when the run was ended
  std::string last_error_;       ///< the last lines, if they are an error's
  std::uint64_t again_ = 0;      ///< so often it was not shown
};

}  // namespace riffle::cli
