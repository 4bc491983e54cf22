// SPDX-License-Identifier: MIT
#pragma once

// What a person is asked before a call runs, and what the answers mean. Pure:
// lines in, text out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/decision.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"

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

  bool operator==(const approval_answer&) const = default;
};

/// What follows a line that was typed.
struct dialog_step {
  std::string show;  ///< for the terminal
  std::optional<approval_answer> decided;
  bool edit = false;  ///< let the person edit `approval_dialog::editable`

  bool operator==(const dialog_step&) const = default;
};

struct dialog_options {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool color = false;
  std::string stops = "the run";  ///< what "stop" ends
};

/// One question. It ends when a step has `decided`; `refused` opens it again.
class approval_dialog {
 public:
  approval_dialog(events::approval_required about, dialog_options options);

  /// The question, with the prompt as its last line.
  [[nodiscard]] std::string begin() const;

  /// What stands on the last line until an answer comes.
  [[nodiscard]] std::string last_line() const;

  /// A line that was typed, without its end.
  dialog_step on_line(std::string_view line);

  /// What came back from the editor.
  dialog_step on_edited(std::string_view text);

  /// The answer could not be taken, e.g. since arguments are not valid.
  [[nodiscard]] std::string refused(std::string_view why) const;

  /// The arguments as a person edits them: JSON over several lines.
  [[nodiscard]] std::string editable() const;

  [[nodiscard]] const events::approval_required& about() const noexcept {
    return about_;
  }
  [[nodiscard]] const proposal_id& id() const noexcept {
    return about_.proposal;
  }

 private:
  enum class waiting : std::uint8_t { choice, reason, scope };

  [[nodiscard]] std::string prompt() const;
  [[nodiscard]] std::string what_it_does(bool whole) const;
  [[nodiscard]] std::string help() const;
  dialog_step choose(std::string_view word, std::string_view rest);
  [[nodiscard]] dialog_step decide(approval_answer::kind what) const;
  dialog_step choose_scope(std::string_view word);
  /// The pattern for further calls; arguments that the person wrote have none.
  [[nodiscard]] bool has_pattern() const;

  events::approval_required about_;
  dialog_options options_;
  waiting for_ = waiting::choice;
  std::optional<std::string> edited_;  ///< compact
};

}  // namespace riffle::cli
