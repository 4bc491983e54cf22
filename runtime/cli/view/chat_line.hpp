// SPDX-License-Identifier: MIT
#pragma once

// What a line at the prompt of a conversation means. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

enum class chat_act : std::uint8_t {
  nothing,
  task,     ///< `rest` is for the model
  shell,    ///< "!make": `rest` is for a shell
  command,  ///< "/model x": `word` is "model", `rest` is "x"
};

struct chat_line {
  chat_act what = chat_act::nothing;
  std::string word{};
  std::string rest{};

  bool operator==(const chat_line&) const = default;
};

/// What stands behind the '/': small letters, digits, '-' and '_', a letter
/// first.
bool is_command_word(std::string_view x);

/// A path such as "/usr/bin is full" is a task, "/hepl" a command.
chat_line parse_chat_line(std::string_view text);

struct chat_command_help {
  std::string_view word;
  std::string_view arguments;
  std::string_view about;
};

/// "exit" alone, as at a shell: no model is asked what that means.
bool wants_to_leave(std::string_view task);

/// All of them, as /help shows them.
std::span<const chat_command_help> chat_commands();
bool is_built_in(std::string_view word);
/// Of what /help names: the longest, and a gap.
inline constexpr std::size_t help_width = 25;
/// `own`: of the person's own commands, whole lines.
std::string chat_help(std::string_view own = {});
/// "there is no /hepl; did you mean /help?"; `own`: names of more commands.
std::string no_such_command(std::string_view word,
                            std::vector<std::string> own = {});

/// Of a command that takes no words and has some: what to say instead of doing
/// it; else "".
std::string not_understood(const chat_line& x);

/// Of so many texts that were typed and stand in the line again.
std::string held_text(std::size_t texts);

/// The files that a text names: words behind an '@' at the beginning of a
/// word; @"with blanks" too. In order, each once.
std::vector<std::string> mentioned_files(std::string_view text);

/// The part of a path that is being written: the word before the cursor, if it
/// begins with '@'. Without the '@'; `found` says whether there is one.
struct begun_path {
  bool found = false;
  std::string path{};
};
begun_path path_before(std::string_view before_cursor);

}  // namespace riffle::cli
