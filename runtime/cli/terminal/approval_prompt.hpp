// SPDX-License-Identifier: MIT
#pragma once

// Asks a person at the terminal about calls that need approval, one by one,
// while their run goes on.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/event.hpp"
#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/answer_gate.hpp"
#include "runtime/cli/terminal/approval_dialog.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/settled_width.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

/// The terminal that questions are read from: standard input, or /dev/tty if
/// the task came from there (`stdin_is_task`). Nothing: nobody can be asked,
/// also if standard error is no terminal, since questions go there.
std::optional<unique_fd> open_keyboard(bool stdin_is_task);

/// Tells whether a file has been written to.
struct file_mark {
  std::uint64_t device = 0;
  std::uint64_t node = 0;
  std::int64_t size = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const file_mark&) const = default;
};

class approval_prompt {
 public:
  struct surroundings {
    runtime& rt;
    /// Ends what this question is about.
    std::function<void(const events::approval_required&)> stop;
    std::function<void(const std::string&)> show;  ///< writes to the terminal
    std::function<bool()> stopped;  ///< the person asked for the end
    std::function<dialog_options()> screen;
    /// Gets the keys that answer nothing; null: they are dropped.
    chat_prompt* typing = nullptr;
    /// What goes on while a question hides it, on one line, with so many
    /// further questions; "": nothing else does.
    std::function<std::string(std::size_t)> beside = {};
    /// Is told what was decided here.
    std::function<void(const proposal_id&)> decided = {};
    /// Is told whose question stands there, and which lines of what the call
    /// does it had no room for.
    std::function<void(const proposal_id&, std::string)> shown = {};
    /// Who decides now, where the person may say so meanwhile.
    std::function<approve()> decides = {};
    /// Whether `stop` has ended what it is about: nobody is asked any more.
    std::function<bool(const events::approval_required&)> ends = {};
  };
  approval_prompt(unique_fd keyboard, surroundings around);

  /// The events of the run, in order.
  void on(const event& x);
  /// The same, before lines about it are written: what shows the call that is
  /// decided about stays above them.
  void before(const event& x);

  /// A question is open, or may be asked: not before the log says what came
  /// of the last one.
  [[nodiscard]] bool busy() const;

  /// Questions that were denied since the terminal went away.
  [[nodiscard]] std::uint32_t unanswered() const { return unanswered_; }

  /// Asks the oldest question, unless it stands there, and takes what was
  /// typed; returns within about `limit` if nobody types, later if a person
  /// edits. Call it while `busy`.
  void look(std::chrono::milliseconds limit);

  /// What removes the question that stands there, from a terminal of the size
  /// that it has now; empty: none does, or the terminal cannot do that.
  [[nodiscard]] std::string erasure() const;
  /// The same for others, who write now.
  std::string give_way();
  /// Writes it again; what was typed of an answer still counts.
  void show_again();
  /// Others have written meanwhile; `erased`: and used `give_way` before.
  void uncovered(bool erased);

  /// The process is stopped: the question goes, and comes back with it.
  void stand_aside();
  void come_back();

  /// The person asked for the end: nothing follows behind the open prompt.
  void leave();

 private:
  void ask();
  void open_gate();
  /// Nobody saw the question when that was typed.
  bool typed_before();
  [[nodiscard]] bool has_draft() const;
  [[nodiscard]] bool completes() const;
  [[nodiscard]] bool means_nothing(const key& x) const;
  void take_keys(std::string_view bytes);
  void on_no_line(bool ended);
  void take_lines(std::string_view bytes);
  void on_key(const key& x, bool alone);
  void on_answer(const key& x);
  void on_reason(const key& x);
  void act(const dialog_step& step);
  void edit();
  void edit_in_lines();
  dialog_step let_edit();
  void look_at_file();
  void decide(const approval_answer& answer);
  /// `line`: for the person, without its end.
  void close(const std::string& line);
  /// Whole lines for the person, broken at words.
  void say(const std::string& lines);
  void close_if_decided();
  void close_outdated(const std::string& line);
  /// What to say of it, or nothing.
  std::string keep_part(events::proposal_outcome how, std::string_view why);
  void keep_changes(const std::string& made);
  /// To what the changed arguments that stand there would act on.
  std::string bind_changes();
  std::string drop_what_cannot_be(const std::string& why);
  void show_changed();
  void show_plain();
  std::string take_up_changes();
  [[nodiscard]] bool was_changed() const;
  void look_whether_outdated();
  [[nodiscard]] std::optional<file_mark> file_mark_now() const;
  [[nodiscard]] std::optional<storage::proposal_state> known();
  /// What somebody elsewhere has allowed by his answer, from then on.
  [[nodiscard]] std::string allowed_by(const storage::proposal_state& x) const;
  bool is_covered(const storage::proposal_record& what);
  bool decided_for_all();
  void keep_answer();
  bool is_answered(const storage::proposal_record& what);
  bool show_after_stop();
  void wait_for_quiet();
  void take_escape();
  void on_escape();
  void forget_early(std::chrono::steady_clock::time_point now);
  [[nodiscard]] bool is_plain() const { return options_.plain; }

  /// Behind a question that takes no keys now.
  [[nodiscard]] std::string_view why_no_answer() const;
  /// Below the picture: the prompt, and what is typed.
  [[nodiscard]] std::vector<std::string> bottom() const;
  [[nodiscard]] std::string beside() const;
  /// Behind these bytes, in one piece with them.
  void draw(std::string bytes = {});
  void draw_bottom(std::string bytes);
  /// The line about the others, if it says something else by now.
  void look_beside();
  /// Up to the first of the last `rows` rows that were drawn, on a terminal of
  /// so many columns.
  [[nodiscard]] std::string erasure_of(std::size_t rows,
                                       std::size_t columns) const;
  /// Takes the prompt away; what stands above it stays.
  void remove_prompt();
  void leave_picture();
  void show_whole(const std::string& lines);
  void show_note(const std::string& lines);
  [[nodiscard]] std::size_t rows_of_picture() const;

  unique_fd keyboard_;
  surroundings around_;
  std::deque<events::approval_required> waiting_;
  std::optional<approval_dialog> open_;  ///< about the first that waits
  /// Of the question that was answered last; its event is still on its way.
  proposal_id settling_;
  std::chrono::steady_clock::time_point settling_until_{};
  std::string folder_;      ///< where that call would run
  proposal_id replaces_;    ///< which question it is asked behind
  std::string definition_;  ///< of its tool
  std::string note_;  ///< what came of the last key, or the editor: whole lines
  proposal_id asks_still_;  ///< is asked whatever holds for all
  /// The file that it is about, as it was when it was shown.
  std::optional<file_mark> file_;
  bool outdated_ = false;   ///< it is another one since
  dialog_options options_;  ///< of the terminal, when it was drawn
  settled_width width_;
  answer_gate gate_;
  key_reader keys_;
  std::vector<key> early_;  ///< answers before their time, all alike
  std::chrono::steady_clock::time_point early_at_{};
  line_editor reason_;
  /// What was changed of a call: of which arguments, as it came from the
  /// editor, and as it was approved.
  struct call_changes {
    std::string of;
    std::optional<editor_text> left{};
    std::string made;
    bool here = false;         ///< `made` by the person at this terminal
    proposal_id answered{};    ///< who said yes to `made` there …
    std::string basis{};       ///< … as it acts on this, …
    std::string definition{};  ///< … by this tool
    bool stale = false;  ///< which does not hold for what it was before `made`
  };
  std::map<call_id, call_changes> changes_;
  std::string basis_;  ///< of the arguments that were changed here
  bool torn_ = false;  ///< see `keep_part`
  /// A question went without a key of this terminal.
  std::chrono::steady_clock::time_point gone_at_{};
  std::unique_ptr<terminal_mode> mode_;  ///< of our own, without `typing`
  std::vector<std::string> drawn_;       ///< rows, without colours
  std::size_t picture_rows_ = 0;         ///< the first of them
  bool has_picture_ = true;              ///< the next drawing shows it
  bool picture_stays_ = false;           ///< only its prompt is erased
  std::string beside_;                   ///< as it was drawn …
  std::chrono::steady_clock::time_point beside_at_{};  ///< … and when
  std::string typed_;  ///< of a line that has not ended
  std::chrono::steady_clock::time_point checked_{};
  std::uint32_t unanswered_ = 0;
  wall_time since_;                         ///< older answers are no news
  int continued_ = 0;                       ///< see `times_continued`
  std::optional<time_point> escape_at_;     ///< an ESC came, and nothing else
  std::optional<time_point> completed_at_;  ///< the last Tab that did so
};

}  // namespace riffle::cli
