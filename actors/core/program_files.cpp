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

/// By its name: a word that is no whole path may be anything (`sentry-bin`, a
/// text that ends in "cabin").
bool holds_programs(std::string_view path) {
  const auto name = last_folder(path);
  if (name.find_first_of(" \t\n") != name.npos) return false;
  const bool whole = path.starts_with('/') || path.starts_with('~');
  return matches_any(whole ? "*bin libexec git-core X11"
                           : "bin sbin .bin libexec git-core X11",
                     name);
}

/// The path of a program that the rule names; `docs/rm.md` is none. A pattern,
/// or what expands, is one in a folder of programs; a folder of any name may
/// lead there.
bool is_its_file(const shell_word& x, const command_pattern& rule) {
  const auto slash = x.text.rfind('/');
  if (rule.any() || slash == std::string::npos) return false;
  const auto name = without_folders(x.text);
  if (!is_plain(x) && holds_programs(std::string_view{x.text}.substr(0, slash)))
    return rule.may_name(name) || name.find('$') != name.npos;
  if (is_choice(x, name)) return rule.may_name(name);
  const auto dot = std::min(name.find('.'), name.size());
  return rule.names(name) &&
         name.find_first_not_of("0123456789.", dot) == name.npos;
}

}  // namespace

bool only_looks(std::string_view name) {
  return matches_any(
      "ls dir stat test [ [[ echo printf : true false which whereis type "
      "basename dirname realpath readlink df mkdir rmdir touch cd pushd popd "
      "pwd hash",
      name);
}

namespace {

/// What stands behind `--option=`, or all of it.
std::string_view value_of(std::string_view x) {
  const auto equals = x.rfind('=');
  return equals == x.npos ? x : x.substr(equals + 1);
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

/// A `cd` of the line, which all of it may be behind.
bool steps_to_programs(const shell_part& part) {
  const auto step = std::ranges::find_if(part, is_step);
  return std::any_of(step, part.end(), [](const shell_word& x) {
    return !is_plain(x) || holds_programs(x.text);
  });
}

bool names_program(const shell_word& x, const command_pattern& rule) {
  return rule.may_name(without_folders(value_of(x.text)));
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

/// Whose last word is where to, and none of what is read.
bool leads_last(shell_words command) {
  const auto name = without_folders(command[0].text);
  return matches_any("cp gcp mv gmv ln gln install ginstall rsync scp", name) &&
         std::ranges::none_of(command, [](const shell_word& x) {
           return x.text.starts_with("-t") || x.text.starts_with("--target");
         });
}

/// A whole folder of programs is read, copied or linked: each of them may get
/// another name.
bool takes_folder(shell_words command) {
  command = without_targets(command);
  if (command.empty() || only_looks(without_folders(command[0].text)))
    return false;
  if (leads_last(command) && command.size() > 1)
    command = command.first(command.size() - 1);
  return std::any_of(
      command.begin() + 1, command.end(),
      [](const shell_word& x) { return holds_programs(value_of(x.text)); });
}

/// The same where a step led there: its word is `.`, or none is needed.
bool takes_all_here(const shell_part& part) {
  const auto command = without_targets(part);
  if (command.empty() || only_looks(without_folders(command[0].text)))
    return false;
  return std::any_of(
      command.begin() + 1, command.end(), [](const shell_word& x) {
        const auto text = value_of(x.text);
        const bool letters = text.starts_with('-') && !text.starts_with("--");
        return text == "." || text == "./" || text == "--recursive" ||
               (letters && text.find_first_of("rR") != text.npos);
      });
}

}  // namespace

bool reads_program(shell_words command, const command_pattern& rule) {
  if (!rule.any() && takes_folder(command)) return true;
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
  if (std::ranges::any_of(line.parts, steps_to_programs) &&
      std::ranges::any_of(line.parts, takes_all_here))
    return true;
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
