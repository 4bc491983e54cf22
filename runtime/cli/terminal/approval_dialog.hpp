// SPDX-License-Identifier: MIT
#pragma once

// What a person is asked before a call runs, and what the answers mean. Pure:
// keys and lines in, text out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/decision.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "runtime/cli/view/call_edit.hpp"

namespace riffle::cli {

/// What an answer decides.
struct approval_answer {
  enum class kind : std::uint8_t { yes, no, always, stop };
  kind what = kind::no;
  std::string reason;  ///< of a no
  /// Of a yes or always: run with these instead; a JSON object.
  std::optional<std::string> arguments = {};
  /// Of always: how far it reaches.
  always_scope scope = always_scope::none;
  bool kept = false;  ///< in all sessions of the folder

  bool operator==(const approval_answer&) const = default;
};

/// What follows an answer. The prompt comes behind it, unless it decided.
struct dialog_step {
  std::string show;  ///< whole lines for the terminal
  std::optional<approval_answer> decided;
  bool edit = false;     ///< let the person edit `approval_dialog::editable`
  bool unknown = false;  ///< that was no answer; of `on_key` alone

  bool operator==(const dialog_step&) const = default;
};

/// What came from the editor, and what it was made of.
struct editor_text {
  std::string text;
  call_edit from;
};

struct dialog_options {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool color = false;
  bool ascii = false;             ///< the terminal does not show UTF-8
  bool plain = false;             ///< it can only write from left to right
  std::string stops = "the run";  ///< what "stop" ends
  bool line = true;               ///< an input line stands below it
};

/// A small letter, or "?", that answers a question or does something there.
bool is_answer_key(std::string_view x);

/// One question. It ends when a step has `decided`; `refused` opens it again.
class approval_dialog {
 public:
  approval_dialog(events::approval_required about, dialog_options options);

  /// What the call would do, in rows of this size.
  [[nodiscard]] std::vector<std::string> picture() const;

  /// Lines of it that have no room there; empty: it shows all.
  [[nodiscard]] std::string left_out() const;

  /// The same as lines of text.
  [[nodiscard]] std::string what_it_does(bool whole) const;

  /// What stands below it until an answer comes; the last line is open.
  [[nodiscard]] std::string prompt() const;

  /// The terminal has another size by now.
  void resize(std::size_t columns, std::size_t rows);

  /// One letter that was typed, without an Enter. Not while `wants_text`.
  dialog_step on_key(std::string_view letter);

  /// A line is asked for, not a letter: why not.
  [[nodiscard]] bool wants_text() const { return for_ == waiting::reason; }
  /// Back to the question.
  /// Esc: from a part of the question back to it; false: it is there.
  bool leave_part();
  /// Its arguments as they were changed, and not decided about yet.
  [[nodiscard]] const std::optional<std::string>& edited() const noexcept {
    return edited_;
  }
  /// What they would do now, as the tool itself tells.
  void set_preview(std::string preview) { preview_ = std::move(preview); }
  /// They cannot be done any more: back to the arguments as they were, what
  /// came from the editor is kept. Whole lines for the person.
  std::string drop_changes(std::string_view why);
  /// What was allowed for further calls, in words.
  [[nodiscard]] std::string granted(always_scope scope, bool kept) const;
  void back() { for_ = waiting::choice; }

  /// A line that was typed, without its end.
  dialog_step on_line(std::string_view line);

  /// The file that the call changes, as it is now: `editable` begins with what
  /// the call makes of it.
  void set_file(std::optional<std::string> content);

  /// What came back from the editor. What cannot be used is kept: it is what
  /// the next `editable` begins with.
  dialog_step on_edited(std::string_view text);

  /// What a person has changed of this call, as it came from the editor.
  [[nodiscard]] const std::optional<editor_text>& changes() const noexcept {
    return broken_ ? broken_ : left_;
  }
  /// It is asked about again, behind a question `of` whose arguments somebody
  /// had changed so: they are what is asked about, where that is certain, else
  /// what the next `editable` begins with. Whole lines for the person.
  std::string take_up(const editor_text& changes, const std::string& of);
  /// Its arguments are what somebody has made of the model's before: the
  /// person here, or nobody knows who.
  void set_changed(bool here) {
    changed_ = true;
    others_ = !here;
  }

  /// The answer could not be taken, e.g. since arguments are not valid.
  [[nodiscard]] std::string refused(std::string_view why) const;

  /// What a person edits from now on, how the name of its file ends, and in
  /// which line, from 1, it begins to be another one than the file is.
  [[nodiscard]] std::string editable();
  [[nodiscard]] std::string ending() const;
  [[nodiscard]] std::size_t first_line() const;
  /// Why that is not what it looks like, or nothing. Whole lines.
  [[nodiscard]] std::string told_before_edit() const;

  [[nodiscard]] const events::approval_required& about() const noexcept {
    return about_;
  }
  [[nodiscard]] const proposal_id& id() const noexcept {
    return about_.proposal;
  }

 private:
  enum class waiting : std::uint8_t { choice, reason, scope };

  [[nodiscard]] events::approval_required shown() const;
  [[nodiscard]] std::string scopes() const;
  [[nodiscard]] std::string choices() const;
  [[nodiscard]] std::string command() const;
  [[nodiscard]] std::string why_no_pattern() const;
  [[nodiscard]] std::string pattern_words() const;
  [[nodiscard]] std::string pattern_reach() const;
  [[nodiscard]] call_edit edit() const;
  [[nodiscard]] std::string help() const;
  dialog_step choose(std::string_view word, std::string_view rest);
  [[nodiscard]] dialog_step decide(approval_answer::kind what) const;
  dialog_step choose_scope(std::string_view word);
  /// The pattern for further calls; arguments that the person wrote have none.
  [[nodiscard]] bool has_pattern() const;
  [[nodiscard]] bool is_changed() const { return edited_ || changed_; }
  [[nodiscard]] bool is_others() const { return others_ && !edited_; }

  events::approval_required about_;
  dialog_options options_;
  waiting for_ = waiting::choice;
  std::string hint_;                    ///< whole lines, until the next key
  std::optional<std::string> edited_;   ///< compact
  std::optional<std::string> preview_;  ///< of `edited_`
  std::optional<editor_text> broken_;   ///< came back, and cannot be used
  std::optional<editor_text> left_;     ///< by the editor: `edited_` of it
  std::optional<std::string> file_;
  std::optional<call_edit> opened_;  ///< what the editor has, or had last
  bool changed_ = false;
  bool others_ = false;    ///< `changed_` not by the person here
  bool scrolled_ = false;  ///< what it does is longer than the screen
};

}  // namespace riffle::cli
