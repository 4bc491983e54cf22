// SPDX-License-Identifier: MIT
#pragma once

// The commands that a person runs by the way (`!COMMAND`): what the model is
// told of them, and what the person is. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace riffle::cli {

/// For the model: a command, and what it wrote.
std::string shell_context(std::string_view command, int status,
                          std::string_view output);
/// The same of one that had the terminal: nobody but the person saw that.
std::string terminal_context(std::string_view command, int status);

/// Such a text at the beginning of `context`, before others of its kind. It is
/// known by its words, which an output may hold, too: for people to read, and
/// for no decision.
struct told_command {
  std::string_view command{};
  std::string_view output{};
  std::size_t size = 0;  ///< of the whole text
};
std::optional<told_command> first_told(std::string_view context);
/// Where the first of them begins behind others; `npos`: nowhere.
std::size_t find_told(std::string_view context);

/// For the person: how much of an output the model reads, where that is more
/// than he may think of, or less than there was. Empty: it reads all, and that
/// is little. `wrote`: bytes that there were.
std::string read_by_model(std::string_view told, std::uint64_t wrote);

/// Whether a command does nothing but go to a folder.
bool only_changes_folder(std::string_view command);

}  // namespace riffle::cli
