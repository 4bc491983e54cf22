// SPDX-License-Identifier: MIT
#include "actors/core/program_files.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "actors/core/command_table.hpp"

namespace riffle::core {

namespace {

/// A pattern of names that begin alike.
bool is_choice(const shell_word& x, std::string_view name) {
  return x.kind == word_kind::glob && !name.starts_with('*');
}

/// The path of a program that the rule names; `docs/rm.md` is none. A pattern,
/// or what expands, is one in a folder of programs; a folder of any name may
/// lead there.
bool is_its_file(const shell_word& x, const command_pattern& rule) {
  const auto slash = x.text.rfind('/');
  if (rule.any() || slash == std::string::npos) return false;
  const auto name = without_folders(x.text);
  if (!is_plain(x) &&
      std::string_view{x.text}.substr(0, slash).ends_with("bin"))
    return rule.may_name(name) || name.find('$') != name.npos;
  if (is_choice(x, name)) return rule.may_name(name);
  const auto dot = std::min(name.find('.'), name.size());
  return rule.names(name) &&
         name.find_first_not_of("0123456789.", dot) == name.npos;
}

/// Shows names or sizes of files, or words, and never what is in them, whatever
/// its options (`file -f`, `md5sum -c` and `du --files0-from` show lines).
bool only_looks(std::string_view name) {
  return matches_any(
      "ls dir stat test [ [[ echo printf : true false which whereis type "
      "basename dirname realpath readlink df mkdir rmdir touch cd pushd popd "
      "pwd hash",
      name);
}

/// What stands behind `--option=`, or all of it.
std::string_view value_of(std::string_view x) {
  const auto equals = x.rfind('=');
  return equals == x.npos ? x : x.substr(equals + 1);
}

/// The last folder that a path leads to, as it is written.
std::string_view last_folder(std::string_view path) {
  std::size_t up = 0;
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto name = without_folders(path);
    path = slash == path.npos ? std::string_view{} : path.substr(0, slash);
    if (name == "..")
      ++up;
    else if (!name.empty() && name != "." && up-- == 0)
      return name;
  }
  return {};
}

bool holds_programs(std::string_view path) {
  return matches_any("*bin libexec git-core X11", last_folder(path));
}

bool is_step(const shell_word& x) {
  return x.text == "cd" || x.text == "pushd";
}

/// Where relative names may be those of programs.
bool leads_to_programs(const shell_part& part) {
  bool after_step = false;
  for (const auto& x : part) {
    const auto path = value_of(x.text);
    if (after_step ? !is_plain(x) || holds_programs(path)
                   : path.find('/') != path.npos && holds_programs(path))
      return true;
    after_step = after_step || is_step(x);
  }
  return false;
}

bool names_program(const shell_word& x, const command_pattern& rule) {
  return rule.may_name(value_of(x.text));
}

/// Tells where the program is.
bool looks_for_program(const shell_part& part, const command_pattern& rule) {
  const auto tells = std::ranges::find_if(part, [](const shell_word& x) {
    return matches_any("which type whereis command hash find locate",
                       without_folders(x.text));
  });
  return std::any_of(tells, part.end(), [&](const shell_word& x) {
    return rule.names(without_folders(value_of(x.text)));
  });
}

/// `f` of a word that its command may read; targets are, whatever it is.
template <class F>
bool reads_any(shell_words command, F f) {
  const bool looks =
      command.empty() || only_looks(without_folders(command[0].text));
  for (std::size_t i = 0; i < command.size(); ++i)
    if ((command[i].target || (i > 0 && !looks)) && f(command[i])) return true;
  return false;
}

}  // namespace

bool reads_program(shell_words command, const command_pattern& rule) {
  return reads_any(command,
                   [&](const shell_word& x) { return is_its_file(x, rule); });
}

bool reads_program_elsewhere(const shell_line& line,
                             const command_pattern& rule) {
  if (rule.any()) return false;
  const auto any_reads = [&](auto f) {
    return std::ranges::any_of(
        line.parts, [&](const shell_part& part) { return reads_any(part, f); });
  };
  if (std::ranges::any_of(line.parts, leads_to_programs) &&
      any_reads([&](const shell_word& x) { return names_program(x, rule); }))
    return true;
  // What says where it is may be what another command gets as its word.
  const bool is_found =
      std::ranges::any_of(line.parts, [&](const shell_part& part) {
        return looks_for_program(part, rule) ||
               std::ranges::any_of(part, [&](const shell_word& x) {
                 return is_its_file(x, rule);
               });
      });
  return is_found &&
         any_reads([](const shell_word& x) { return !is_plain(x); });
}

}  // namespace riffle::core
