// SPDX-License-Identifier: MIT
#pragma once

// The command line as plain values: what `--help` says, for whatever is made
// of it (completions, the manual page).

#include <string>
#include <vector>

namespace riffle::cli {

/// An option, or an argument in its place.
struct option_node {
  std::vector<std::string> names;  ///< "--output", "-q"; of an argument: "ID"
  std::string about;
  std::string value;  ///< "FILE", "text|json|jsonl"; empty: a flag
};

struct command_node {
  std::string name;
  std::string about;
  std::string footer;  ///< examples and more, as `--help` has them
  std::vector<option_node> options;
  std::vector<option_node> arguments;
  std::vector<command_node> commands;
};

/// Of this program. The footer of the top has no paths of this machine.
command_node describe_commands();

/// What stands in "a|b|c"; nothing if that is no list.
std::vector<std::string> choices_of(const std::string& value);

/// What the names of a value are: "sessions", "unfinished", "proposals",
/// "models", "agents", "tools", "files", or "" if nobody knows. `path`: "riffle
/// sessions show"; `what`: an option's long name, or an argument's.
std::string kind_of(const std::string& path, const std::string& what);

// Scripts for shells, and the manual page (man(7)).
std::string bash_completion(const command_node& x);
std::string zsh_completion(const command_node& x);
std::string fish_completion(const command_node& x);
std::string manual_page(const command_node& x);

}  // namespace riffle::cli
