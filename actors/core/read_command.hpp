// SPDX-License-Identifier: MIT
#pragma once

// Command lines that surely only read: one simple command of plain words, of a
// program whose options are known, with no option that executes, writes,
// follows links or waits for ever. All else is none of them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

struct read_command {
  std::vector<std::string> words;  ///< exactly what the program gets
  /// Paths among them, and "." where the program takes that by itself. Who
  /// runs it makes sure that they stay inside the workspace.
  std::vector<std::string> places;
  /// It shows names or content that no place of these names: what lies beneath
  /// a folder, what a repository knows.
  bool sweeps = false;
  bool git = false;
  /// A place that is a folder makes it none that surely reads: what lies there
  /// may be links that lead out.
  bool files_only = false;

  bool operator==(const read_command&) const = default;
};

/// What the line is, if an entry of the list is what it begins with. An entry
/// that is not known here ("uptime", "npm ls") is taken at its word, but only
/// for a line that is exactly this entry.
std::optional<read_command> as_read_command(
    std::string_view line, const std::vector<std::string>& list);

/// Whether the line is such commands alone, joined by `|`, `&&`, `||` or `;`,
/// or goes to a folder between them. By its text: for who tells what a command
/// can have done, not for who lets it run.
bool only_reads(std::string_view line, const std::vector<std::string>& list);

/// Whether an entry can ever match: plain words, one command.
bool is_read_entry(std::string_view entry);

/// Whether nothing in a repository's configuration names a program, another
/// file or another place. Only settings that are known to be harmless are; what
/// cannot be read with certainty is not.
bool is_harmless_git_config(std::string_view text);

}  // namespace riffle::core
