// SPDX-License-Identifier: MIT
#pragma once

// What is known of commands by their names, for how far "always" may reach.

#include <string_view>

#include "actors/core/shell_parts.hpp"

namespace riffle::core {

/// Whatever follows it, it runs nothing else, and writes and sets nothing.
bool is_harmless(std::string_view command);

/// It is harmless, and its words are files, which it reads or lists.
bool names_files(std::string_view command);

/// Its first word names what it does; with others it is what is acted on, and
/// the words behind it mean anything (`rm x *`, `curl URL *`, `cp x *`).
bool has_subcommands(std::string_view command);

/// It runs what the files of the folder say (tests, rules of a build, scripts
/// of a package), or what it gets from elsewhere.
bool runs_the_folder(std::string_view command);

/// Among its words are texts, revisions and patterns, which are no places.
bool takes_texts(std::string_view command);

bool is_builder(std::string_view command);

/// And its second says only that the third does.
bool is_runner(std::string_view subcommand);

/// Git writes what it shows to any file (`git log --output=x`), by the option
/// or the beginning of one.
bool git_writes_output(const shell_part& command);

/// Git runs a program that a word names, or what another repository of this
/// folder says: its hooks and its configuration are files like others.
bool git_runs_others(const shell_part& command);

/// Git may be given a repository as ssh is (`host:path`), or find its name in a
/// file. A colon may also stand in a revision (`HEAD:a.txt`), and in what is
/// pushed or fetched (`HEAD:main`), behind the repository's name.
bool git_names_host(const shell_part& command);

}  // namespace riffle::core
