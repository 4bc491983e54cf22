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
  return !is_plain(x) && !name.starts_with('*') &&
         (x.kind == word_kind::glob || name.find_first_of("*?[") != name.npos);
}

/// What stands behind an expansion may be the end of the name (`${x}m`).
bool may_end_in_name(const shell_word& x, const command_pattern& rule) {
  const auto end = x.text.find_last_of("$})");
  if (x.kind != word_kind::open || end == std::string::npos) return false;
  auto rest = std::string_view{x.text}.substr(end + 1);
  if (x.text[end] == '$')  // `$name`
    rest.remove_prefix(static_cast<std::size_t>(
        std::ranges::find_if_not(rest, is_name) - rest.begin()));
  return rule.may_end_in(rest);
}

/// One of the words of a list with braces is the name (`/usr/bin/{x,rm}`).
bool has_name_in_list(const shell_word& x, const command_pattern& rule) {
  std::string_view rest = x.text;
  if (x.kind != word_kind::open || rest.find('{') == rest.npos) return false;
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of("{},/"), rest.size());
    if (end > 0 && rule.names(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// A URL of a file in which signs stand for others (`r%6d`, `[q-s]m`).
bool is_odd_file_url(std::string_view x) {
  constexpr std::string_view scheme = "file:";
  const auto at = std::ranges::search(x, scheme, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  });
  return !at.empty() && x.find_first_of("%[{#?") != x.npos;
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
  if (rule.any()) return false;
  if (may_end_in_name(x, rule)) return true;
  const auto slash = x.text.rfind('/');
  if (slash == std::string::npos) return false;
  if (has_name_in_list(x, rule) || is_odd_file_url(x.text)) return true;
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

/// Whoever looks at a folder of the project's own (`git add bin`) and copies no
/// program. One that is the system's is followed to where it is.
bool keeps_names(shell_words command) {
  const auto name = without_folders(command[0].text);
  if (name == "git")
    return command.size() > 1 && is_plain(command[1]) &&
           matches_any("add blame commit diff log status", command[1].text);
  return matches_any("go find", name) ||
         (name == "du" &&
          std::ranges::none_of(command, [](const shell_word& x) {
            return x.text.starts_with("--f");
          }));
}

/// A whole folder of programs is read, copied or linked: each of them may get
/// another name.
bool takes_programs(shell_words command) {
  command = without_targets(command);
  if (command.empty() || only_looks(without_folders(command[0].text)))
    return false;
  if (leads_last(command) && command.size() > 1)
    command = command.first(command.size() - 1);
  const bool keeps = keeps_names(command);
  return std::any_of(command.begin() + 1, command.end(),
                     [&](const shell_word& x) {
                       const auto path = value_of(x.text);
                       const bool own = path.find_first_of("/~.") != 0;
                       return !(keeps && own) && holds_programs(path);
                     });
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
  if (!rule.any() && takes_programs(command)) return true;
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
