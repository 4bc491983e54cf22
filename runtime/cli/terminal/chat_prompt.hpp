// SPDX-License-Identifier: MIT
#pragma once

// The prompt of a conversation on a terminal: the editor's keys and picture,
// and what is typed while a run works.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/time.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/terminal/line_editor.hpp"
#include "runtime/cli/terminal/settled_width.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/terminal/typed_list.hpp"
#include "runtime/cli/terminal/window_title.hpp"

namespace riffle::cli {

class list_picker;
class waiting_log;
struct other_typing;

class chat_prompt {
 public:
  /// Texts that wait for their turn; more are refused with a bell.
  static constexpr std::size_t most_queued = 100;

  /// What stands behind a word that Tab was pressed at: what to put in its
  /// place, and what to choose from (empty: nothing to choose).
  struct completion {
    std::size_t replaces = 0;  ///< bytes before the cursor
    std::string by;
    std::string choices;  ///< whole lines for the person
  };
  using completer = std::function<completion(std::string_view before_cursor)>;

  /// `plain`: a terminal that can only write from left to right; it edits the
  /// lines itself.
  chat_prompt(unique_fd keyboard, fd_writer& screen, bool plain, bool color);
  ~chat_prompt();
  chat_prompt(const chat_prompt&) = delete;
  chat_prompt& operator=(const chat_prompt&) = delete;

  /// The next text; nothing: the person leaves (Ctrl-D, Ctrl-C twice, a
  /// closed terminal, a signal). Blocks.
  std::optional<std::string> next(const interrupts& signals);
  /// What stands before "> ": something that a person must not forget.
  void remind(const std::string& of) {
    mark_ = (of.empty() ? "" : "(" + of + ") ") + "> ";
  }
  /// What the title of the window says where the prompt waits for a text.
  void name_window(std::string x) { window_ = std::move(x); }
  /// Its lines stand above the prompt, and none within it; it outlives this.
  void show_log(waiting_log* x) noexcept { log_ = x; }
  /// What Tab does, also while a run works.
  void complete_with(completer f) { completer_ = std::move(f); }

  /// What the list below the line has for the text before the cursor; nothing:
  /// there is none for such. Asked for with each key, so it must not block. A
  /// line ends with an empty text: what was known for it may be otherwise then.
  using offerer =
      std::function<std::optional<typed_offer>(std::string_view before_cursor)>;
  void offer_with(offerer f) { offerer_ = std::move(f); }

  /// Takes what was typed meanwhile; never blocks.
  void look();
  /// What of the lines that are typed while a run works is answered at once,
  /// instead of waiting: whole lines for the person, or nothing.
  using answerer =
      std::function<std::optional<std::string>(const std::string&)>;
  void answer_with(answerer f) { answerer_ = std::move(f); }
  /// Says a text that waits to what works now, for its next step. Nothing: it
  /// did; else why the text has to wait, whole lines for the person.
  using teller = std::function<std::optional<std::string>(const std::string&)>;
  /// Of the texts that wait an Enter in an empty line tells those before the
  /// first command, as far as `f` takes them. They stand there still, in case
  /// that step never comes, and cannot be taken back. `heard` is called when
  /// one waits no more. Nobody can be told anything without `f`, and behind the
  /// end of what works.
  void tell_with(teller f, std::function<void()> heard);
  /// An Enter would tell something.
  [[nodiscard]] bool can_tell() const;
  /// A step begins: what was told before and is not heard with it waits as if
  /// it had not been.
  void on_step() { told_ = 0; }
  /// The model has a text of those that were told: it waits no more.
  void on_heard(const std::string& text);
  /// What was answered since the last call.
  std::string take_answers() { return std::exchange(answers_, {}); }
  /// A question has appeared, or gone. A letter that answers questions, alone
  /// in a line, was meant for it: what waits, and what comes so shortly behind
  /// it, is told of (`take_answers`) and not sent.
  void beside_question();
  static constexpr duration meant_for_question =
      std::chrono::milliseconds{1500};
  /// Takes keys, also those that somebody else has read.
  void take(std::vector<key> keys);
  /// Puts a text into the line that was typed for somebody who is gone: the
  /// next Enter does not send it.
  void keep(const std::string& text);
  /// When the last key was taken while a run works.
  [[nodiscard]] std::optional<time_point> last_key() const { return last_key_; }
  /// For questions that come before the first prompt: what was typed until
  /// then, and what is typed there and is no answer, stands in the line behind
  /// them as after `hold_back`. The end of a line whose begin came early goes
  /// with it.
  other_typing kept_beside_questions();
  /// How many texts stand in the line so, one after the other.
  [[nodiscard]] std::size_t held() const noexcept {
    return held_ ? queue_.size() : 0;
  }
  /// Which of a list the person chooses; nothing: none.
  std::optional<std::size_t> pick(const list_picker& from,
                                  const interrupts& signals);
  /// The process is stopped: the terminal is the shell's until `come_back`.
  void step_aside();
  void come_back();
  /// Somebody else reads the keyboard, in lines.
  void pause() { mode_.set(typing_mode::lines); }
  /// A command has the terminal, and may read from it.
  void lend() { mode_.set(typing_mode::lent); }
  /// It has ended. What was typed meanwhile may have been meant for it, a
  /// password at worst: it stands in the line with all that waits, as after
  /// `hold_back`. So does what waits behind a command that was `stopped`.
  /// Returns how many texts wait for an Enter, one by one. `secret`: some of it
  /// was typed while `shows_typing` was false, so nobody keeps it.
  std::size_t take_over(bool stopped, bool secret);
  /// The terminal echoes what is typed.
  [[nodiscard]] bool shows_typing() const;
  /// The run was stopped: what waits was written for another state of things.
  /// Each stands in the input line again, one after the other, and is sent by
  /// an Enter, or dropped by a Ctrl-C. Returns how many there are.
  std::size_t hold_back();
  /// What `next` gave last stands in the input line again.
  void give_back();
  /// Behind a turn: keys are kept for `next`, and Ctrl-C is one of them.
  void hold();
  /// Keys are taken by `look`, Ctrl-C is a signal.
  void go_on();
  /// Ctrl-D was pressed while a run worked: the person leaves at its end, if
  /// nothing waits to be sent, or stands in the line, then.
  [[nodiscard]] bool leaves_later() const noexcept {
    return leaves_later_ && queue_.empty() && editor_.text().empty();
  }
  /// What waits for its turn, as it will be sent.
  [[nodiscard]] std::vector<std::string> queued() const;
  /// What waits and will not be sent any more, as a person sees it.
  [[nodiscard]] std::vector<std::string> unsent() const;
  /// What is typed and what waits, as one line at most; may be empty.
  [[nodiscard]] std::string draft() const;
  /// The same with the list below it, where nothing asks.
  std::string draft_with_list();

  [[nodiscard]] int keyboard() const { return keyboard_.get(); }
  [[nodiscard]] line_editor& editor() noexcept { return editor_; }

 private:
  enum class said : std::uint8_t { nothing, text, leave };

  static constexpr std::string_view was_a_reason =
      "That was said of a question that has gone; Enter again sends it.\n";

  std::optional<std::string> next_plain(const interrupts& signals);
  said on(const key& x);
  std::string complete_word();
  bool list_takes(const key& x);
  bool settle_list();
  void drop_stale_list();
  void end_list();
  std::vector<std::string> list_below(std::size_t columns, std::size_t used);
  void close_list();
  bool asks_for_drawing();
  void on_bytes(std::string_view bytes);
  void on_silence();
  [[nodiscard]] int idle_ms() const;
  std::string erasure(std::size_t columns);
  void erase();
  void show(bool over = false);
  void show_taken();
  void show_above(std::string_view lines);
  void begin_raw();
  void offer_held();
  void submit();
  void tell();
  bool answer(const std::string& text);
  bool is_meant_for_question(const std::string& marked) const;
  bool holds_back(const key& x);
  [[nodiscard]] std::string queued_text(std::size_t beside) const;
  [[nodiscard]] bool offers_to_tell() const;
  [[nodiscard]] std::string set_off(const std::string& row) const;
  void suspend();
  void edit();
  void look_for_escape();
  void on_escape();
  void take_back();
  void end_line(bool dropped = false);
  bool read_some(std::string& out, int wait_ms);
  std::string read_burst();
  void take_burst();
  void drop_early(const char* when);
  void hold_early();
  std::string read_early();
  void press(std::string bytes);
  void queue_pressed();
  void release_pieces();
  void give_open();
  void hold_line(const std::string& text);
  void show_list(const list_picker& list);
  std::deque<key> take_early();
  std::optional<std::size_t> pick_plain(const list_picker& list,
                                        const interrupts& signals);

  std::string mark_ = "> ";
  std::string window_;
  unique_fd keyboard_;
  fd_writer& screen_;
  waiting_log* log_ = nullptr;
  bool plain_;
  bool color_;
  terminal_mode mode_;
  window_title title_;
  key_reader keys_;
  line_editor editor_ = line_editor::with_pieces();
  std::deque<key> pressed_;  ///< not looked at yet
  std::optional<time_point> last_key_;
  std::optional<time_point> question_at_;  ///< see `beside_question`
  std::deque<std::string> queue_;          ///< with marks, see `line_editor`
  std::size_t told_ = 0;       ///< of the front of `queue_`, see `tell_with` …
  std::size_t ever_told_ = 0;  ///< … at least, and those before the last step
  teller teller_;
  std::function<void()> on_heard_;
  answerer answerer_;
  completer completer_;
  offerer offerer_;
  typed_list list_;
  std::string answers_;
  bool held_ = false;  ///< none of it is sent by itself
  std::string last_;   ///< what `next` gave; the same
  std::string line_;   ///< of a plain terminal, not ended
  /// The rows that are shown, down to what is under the cursor.
  std::vector<std::string> above_;
  std::size_t shown_columns_ = 0;
  std::size_t shown_rows_ = 0;  ///< that the terminal had
  settled_width width_;
  settled_width height_;
  std::function<bool()> gave_up_;        ///< of who is asked by `next`
  std::optional<time_point> escape_at_;  ///< an ESC came, and nothing else
  bool turned_ = false;   ///< something was said behind the last prompt
  bool leaving_ = false;  ///< the last key was Ctrl-C in an empty text
  bool closed_ = false;
  std::string listed_for_;     ///< what was completed by a list, and stands so
  bool leaves_later_ = false;  ///< Ctrl-D while a run worked
  bool kept_ = false;          ///< see `keep`; no Enter came since
  /// The last of what waits came without an end, see `kept_beside_questions`.
  bool open_ = false;
};

/// Tab puts a blank behind the name of a file that is whole: ":", which says
/// which lines of it are meant, takes its place. `before`: what stood before
/// the cursor when Tab was pressed as the last key; empty: it was not.
void close_completed_word(line_editor& editor, std::string_view before,
                          const key& typed);

}  // namespace riffle::cli
