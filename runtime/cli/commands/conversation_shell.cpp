// SPDX-License-Identifier: MIT
// What a person runs by the way in a conversation: `!COMMAND`.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/shell_run.hpp"
#include "runtime/cli/terminal/editor.hpp"
#include "runtime/cli/terminal/program_output.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/shell_text.hpp"
#include "runtime/cli/view/terminal_command.hpp"
#include "tools/builtin/shell/bash.hpp"

namespace riffle::cli {

namespace {

std::string why_no_cd(const std::string& command) {
  std::error_code gone;
  return "A cd alone changes nothing: each command has a shell of its own, "
         "in " +
         std::filesystem::current_path(gone).string() + ". !" + command +
         " && COMMAND runs one there.";
}

/// The last row of what it wrote is open.
bool has_open_row(const shell_result& x) {
  return !x.output.empty() && !x.output.ends_with('\n');
}

/// `told`: what the model reads of its output. `stopped`: by a Ctrl-C.
std::vector<std::string> notes_of(const shell_result& x,
                                  const std::string& told, bool stopped) {
  std::vector<std::string> out;
  if (x.status != 0)
    out.push_back("exit status " + std::to_string(x.status) +
                  (x.ended_by_us ? ": it did not end, and was killed" : ""));
  if (x.left_some)
    out.emplace_back(
        "Something that it started works on, maybe also when Riffle has ended; "
        "what it writes is not shown.");
  const auto gone = x.output.size() - told.size();
  if (auto how = read_by_model(told, x.wrote - gone); !how.empty())
    out.push_back(std::move(how));
  const bool no_editor =
      x.status != 0 && told.find(tools::no_editor) != told.npos;
  if (no_editor || (has_open_row(x) && !stopped && ends_as_question(told)))
    out.emplace_back("It had no keyboard: with !! in front it has yours.");
  return out;
}

/// Of the person's git, in this folder.
std::string git_alias(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  };
  if (!std::ranges::all_of(name, plain)) return {};
  auto x = run_shell("git config --get alias." + std::string{name},
                     {.show = [](std::string_view) {}});
  if (!x || x->status != 0) return {};
  return x->output.substr(0, x->output.find('\n'));
}

}  // namespace

/// The model reads it with the next task.
void conversation::tell_of(const std::string& text) {
  constexpr std::size_t most = 256u << 10;
  if (!told_.empty() && told_.size() + text.size() > most) {
    note(
        "With it what your earlier commands wrote is too much: the model will "
        "not read that.");
    told_.clear();
  }
  add_to_context(told_, text);
}

/// What was typed while a command had the terminal.
void conversation::tell_meanwhile(std::size_t texts) {
  if (texts == 0) return;
  note(held_text(texts));
  if (keep_queued_) keep_queued_({});
}

void conversation::shell(const std::string& command, interrupts& signals) {
  if (only_changes_folder(command)) return note(why_no_cd(command));
  // Behind one mark a second one is the shell's own, and has a blank.
  if (command.size() > 1 && command[0] == '!' && command[1] != ' ')
    return shell_at_terminal(command.substr(1), signals);
  prompt_.lend();
  signals.lend(true);
  const bool wants = wants_terminal(command, git_alias);
  if (wants || signals.asked_to_stop()) {
    signals.lend(false);
    if (!signals.asked_to_stop()) return shell_at_terminal(command, signals);
    note("It did not run.");
    return tell_meanwhile(prompt_.take_over(true, false));
  }
  safe_output shown{color_ && can_erase()};
  bool secret = false;  // it asked for something without showing it
  const auto result = run_shell(
      command,
      {.show = [&](std::string_view x) { io_.err.write(shown.on(x)); },
       .stopped =
           [&] {
             secret = secret || !prompt_.shows_typing();
             return signals.asked_to_stop();
           },
       .insists = [&] { return signals.times() > 1; },
       .leaves = [&] { return signals.asked_to_leave(); },
       .lingers =
           [&] {
             io_.err.write("\nIt is still ending; Ctrl-C again kills it.\n");
           }});
  signals.lend(false);
  io_.err.write(shown.end());
  const bool stopped = signals.asked_to_stop();
  if ((result && has_open_row(*result)) || (stopped && !can_erase()))
    io_.err.write("\n");
  const auto typed = prompt_.take_over(stopped, secret);
  if (!result) {
    complain(result.error());
    return tell_meanwhile(typed);
  }
  // What is spelled is longer.
  const auto told = both_ends_of(seen_lines(result->output, io_.err.columns()));
  for (const auto& x : notes_of(*result, told, stopped)) note(x);
  tell_of(shell_context(command, result->status, told));
  tell_meanwhile(typed);
}

/// What it showed there nobody has seen but the person.
void conversation::shell_at_terminal(const std::string& command,
                                     interrupts& signals) {
  prompt_.pause();
  const held_log log{io_.log};
  const auto status = run_at_terminal(command, prompt_.keyboard(),
                                      [&] { return signals.asked_to_stop(); });
  if (!status) return complain(status.error());
  constexpr int not_found = 127;
  if (*status == not_found) return note("exit status 127: it did not run");
  if (*status != 0) note("exit status " + std::to_string(*status));
  note("The model is told that it ran, not what it showed.");
  tell_of(terminal_context(command, *status));
}

}  // namespace riffle::cli
