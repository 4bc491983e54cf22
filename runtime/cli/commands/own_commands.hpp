// SPDX-License-Identifier: MIT
#pragma once

// Commands of a conversation that are Markdown files: the user's own, and those
// of the folder, which are a stranger's text until a person has read it.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "runtime/cli/view/own_command.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

struct own_command {
  std::string name{};
  std::filesystem::path file{};
  std::string shown{};  ///< "./.riffle/commands/review.md", for people
  bool of_folder = false;
};

struct own_commands {
  std::vector<own_command> all{};  ///< by name, each once
  /// Files whose name is taken: a line each, for the person.
  std::vector<std::string> refused{};
};

inline constexpr std::size_t most_of_command = 64u << 10;

/// What there is now, for lists: `riffle/commands/` of the user's configuration
/// folder, and `.riffle/commands/` of the working directory, 1,000 entries of
/// each. The user's own count before those of the folder; what is built in,
/// before both.
own_commands find_own_commands();

/// The one of this name, however many there are. Names are as people write
/// them: "a-z", digits, '-' and '_' behind a letter.
std::optional<own_command> find_own_command(const std::string& name);

/// Its file's text. Fails with `invalid_request`: it is no text, too large,
/// another user's, or of a folder that it leads out of.
expected<own_text> read_own(const own_command& x);

/// Words behind an '@' in `task` that lead out of the working directory and are
/// not among those that the person typed: a folder's text attaches none of
/// them.
std::vector<std::string> leading_out(const std::string& task,
                                     const std::string& typed);

/// So, what the tool `read` would be denied, or have to ask about.
std::vector<std::string> kept_from_read(const std::string& task,
                                        const std::string& typed,
                                        const config::tools_config& settings);

}  // namespace riffle::cli
