// SPDX-License-Identifier: MIT
#include "actors/core/command_doubt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "actors/core/command_calls.hpp"
#include "actors/core/command_pattern.hpp"
#include "actors/core/command_table.hpp"
#include "actors/core/program_files.hpp"
#include "actors/core/sed_script.hpp"

namespace riffle::core {

namespace {

/// Those that need no operator in front: `for NAME do LIST`.
bool may_begin_list(const shell_word& x) {
  constexpr std::array<std::string_view, 8> all = {
      "{", "do", "then", "else", "elif", "if", "while", "until"};
  return !x.quoted && std::ranges::find(all, x.text) != all.end();
}

/// The name of a variable that the word sets, or nothing.
std::optional<std::string_view> assigned(const shell_word& x) {
  const auto end = x.text.find('=');
  if (end == std::string::npos || end == 0) return {};
  auto name = std::string_view{x.text}.substr(0, end);
  if (name.ends_with('+')) name.remove_suffix(1);
  const auto first = static_cast<unsigned char>(name.empty() ? '0' : name[0]);
  const bool good = std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  });
  if (!good || (first >= '0' && first <= '9')) return {};
  return name;
}

/// Whether a program of this name runs what its words or its input say.
bool runs_others(std::string_view program) {
  const auto* row = find_command(program);
  return row != nullptr && !row->builtin &&
         (row->what == runs::text || row->what == runs::next ||
          row->what == runs::script);
}

/// A text that may be a command: a word of it may be the pattern's, or one that
/// runs others stands where a command does.
bool mentions(std::string_view text, const command_pattern& rule) {
  const auto is_part = [](unsigned char c) {
    return c > 0x20 &&
           shell_operators.find(static_cast<char>(c)) ==
               std::string_view::npos &&
           std::string_view{"'\"\\$,=!"}.find(static_cast<char>(c)) ==
               std::string_view::npos;
  };
  if (text.find("/dev/stdin") != text.npos ||
      text.find("/dev/fd/") != text.npos)
    return true;
  bool at_command = true;
  bool in_list = false;  // of commands
  while (!text.empty()) {
    const auto begin = static_cast<std::size_t>(
        std::ranges::find_if(text, is_part) - text.begin());
    const auto between = text.substr(0, begin);
    in_list = in_list || between.find_first_of(shell_operators) != between.npos;
    at_command = at_command || between.find_first_of("=!") != between.npos ||
                 between.find_first_of(shell_operators) != between.npos;
    text.remove_prefix(begin);
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, is_part) - text.begin());
    const auto word = without_folders(text.substr(0, end));
    if (end > 0 && (rule.may_name(word) || (at_command && runs_others(word))))
      return true;
    text.remove_prefix(end);
    // Not a title's "source of truth".
    const bool odd = text.find_first_of("$`|<>/\\") != text.npos;
    if (at_command && !text.empty() && (in_list || odd) &&
        matches_any(". source eval trap", word))
      return true;
    at_command = at_command && (is_reserved({std::string{word}}) ||
                                matches_any("command builtin exec", word));
  }
  return false;
}

/// What a word sets may be a command for a program that looks at it.
bool sets_command(const shell_word& x, const command_pattern& rule) {
  return assigned(x) && mentions(x.text.substr(x.text.find('=')), rule);
}

may_be judge(shell_words x, const command_pattern& rule, int depth);

/// A pattern of files beneath a folder: none of them is an option.
bool is_beneath(const shell_word& x) {
  const auto wild = x.text.find_first_of("*?[]!");
  return x.kind == word_kind::glob && !x.text.starts_with('-') &&
         std::string_view{x.text}.substr(0, wild).find('/') !=
             std::string_view::npos;
}

/// Of one kind (`src/*.c`), which programs are not called.
bool is_beneath_of_kind(const shell_word& x) {
  const auto ending =
      std::string_view{x.text}.substr(x.text.find_last_of("*?[]!") + 1);
  return is_beneath(x) && ending.size() > 1 && ending[0] == '.' &&
         ending != ".so" && std::ranges::all_of(ending.substr(1), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

bool sets_steering(const command_row& row, const shell_word& x) {
  const auto name = assigned(x);
  return row.variables && steers_programs(name ? *name : x.text);
}

bool is_told(const command_row& row, shell_words rest) {
  rest = without_targets(rest);
  if (row.what == runs::if_first)
    rest = rest.first(std::min<std::size_t>(rest.size(), 1));
  const bool paths = !rest.empty() && is_plain(rest[0]) &&
                     matches_any(row.paths, rest[0].text);
  std::set<std::string_view> seen;  // each costs a walk over all words
  for (const auto& x : rest) {
    // What is assigned stays one word, whatever it expands to.
    const bool is_fixed = is_plain(x) || row.what == runs::if_syntax ||
                          (row.variables && assigned(x)) ||
                          (!looks_within(row) && is_beneath(x));
    const bool is_path =
        paths && (!is_option(x.text) || x.text.starts_with("-c"));
    if (!is_fixed || sets_steering(row, x) ||
        (!is_path && is_one_of(row, x.text)))
      return true;
    const bool is_subcommand = row.words.find(x.text + "+-") != row.words.npos;
    if (!is_subcommand || x.text.empty() || !seen.insert(x.text).second)
      continue;
    for (const auto& y : rest)
      if (is_one_of(row, y.text, x.text)) return true;
  }
  return row.bundled && !rest.empty() && !is_option(rest[0].text) &&
         is_one_of(row, "-" + rest[0].text);
}

/// Whether sed surely runs nothing: with options that are known, and scripts.
bool is_plain_sed_call(shell_words rest) {
  constexpr std::array<std::string_view, 6> known = {
      "--quiet",           "--silent",    "--in-place",
      "--regexp-extended", "--null-data", "--separate"};
  rest = without_targets(rest);
  bool has_script = false;
  std::string_view operand;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string_view x = rest[i].text;
    if (!is_plain(rest[i])) return false;
    if (x.starts_with("--")) {
      if (std::ranges::find(known, x) == known.end()) return false;
    } else if (is_option(x)) {
      const auto end = x.find_first_not_of("nErsuz", 1);
      if (end == std::string_view::npos || x[end] == 'i') continue;
      const bool is_script = x.substr(end) == "e" && i + 1 < rest.size();
      if (!is_script || !is_plain(rest[i + 1])) return false;
      if (!is_plain_sed(rest[++i].text)) return false;
      has_script = true;
    } else if (operand.empty()) {
      operand = x;
    }
  }
  return has_script || is_plain_sed(operand);
}

may_be judge_next(const command_row& row, shell_words rest,
                  const command_pattern& rule, int depth) {
  const auto is_over = [&] { return rest.empty() || rest[0].target; };
  while (!is_over() && assigned(rest[0])) {
    if (steers_programs(*assigned(rest[0])) || sets_command(rest[0], rule))
      return may_be::doubt;
    rest = rest.subspan(1);
  }
  for (int i = 0; i < row.operands && !is_over(); ++i) {
    if (!is_plain(rest[0]) || is_option(rest[0].text)) return may_be::doubt;
    rest = rest.subspan(1);
  }
  if (is_over()) return may_be::no;
  if (is_option(rest[0].text)) return may_be::doubt;
  const auto inner = judge(rest, rule, depth + 1);
  return inner == may_be::yes ? may_be::yes_told : inner;
}

/// A word that may have a program do what no word says: run a shell or another
/// that runs others, or a text with quotes or expansions of its own.
bool is_obscure(const shell_word& x) {
  if ((!is_plain(x) && !is_beneath_of_kind(x)) ||
      x.text.find_first_of("'\"\\$`") != std::string::npos)
    return true;
  if (x.text.find_first_of("{") < x.text.find(',') &&
      x.text.find(',') != std::string::npos)
    return true;
  if (const auto name = assigned(x); name && steers_programs(*name))
    return true;
  return is_input(x.text) || runs_others(without_folders(x.text));
}

/// A program that may run what its words name. `copies`: or give a file another
/// name.
may_be judge_unknown(shell_words rest, const command_pattern& rule,
                     bool copies = false) {
  int looks = 8;  // each costs what the rest is long
  for (; !rest.empty() && !rest[0].target; rest = rest.subspan(1)) {
    const auto& x = rest[0];
    if (is_obscure(x)) return may_be::doubt;
    // It may run one that what follows makes run others (`setpriv git -c …`).
    const auto* row = find_command(without_folders(x.text));
    const bool may_be_told =
        row != nullptr && !row->builtin &&
        (row->what == runs::if_told || row->what == runs::if_first);
    if (may_be_told && (--looks < 0 || is_told(*row, rest.subspan(1))))
      return may_be::doubt;
    if (rule.any()) continue;
    if (rule.names(without_folders(x.text))) {
      // The file of the program: it may get another name (cp, ln).
      const bool is_file = copies || x.text.find('/') != std::string::npos;
      if (is_file || --looks < 0 || rule.direct(rest) != may_be::no)
        return may_be::doubt;
    }
    const bool text = x.text.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_./-+") != std::string::npos;
    if (text && mentions(x.text, rule)) return may_be::doubt;
  }
  return may_be::no;
}

may_be judge_script(shell_words rest, const command_pattern& rule) {
  const bool told = std::ranges::any_of(rest, &shell_word::input);
  const auto bare = without_targets(rest);
  if (told || bare.empty() || is_option(bare[0].text)) return may_be::doubt;
  // Its input under a name: /dev/stdin, /proc/self/fd/0, from where `cd` led.
  const auto name = without_folders(bare[0].text);
  if (name == "stdin" || name.find_first_not_of("0123456789") == name.npos)
    return may_be::doubt;
  return judge_unknown(bare, rule);
}

may_be judge_program(shell_words x, const command_pattern& rule) {
  const std::string_view name = x[0].text;
  // `env` takes any word with it as an assignment, also of a function.
  if (name.find_first_of("='\"\\$`*?[]{}!# \t\n") != name.npos)
    return may_be::doubt;
  return judge_unknown(x.subspan(1), rule,
                       renames_files(without_folders(name)));
}

may_be judge_command(shell_words x, const command_pattern& rule, int depth) {
  const auto direct = rule.direct(x);
  if (direct != may_be::no) return direct;
  const auto rest = x.subspan(1);
  if (reads_program(x, rule)) return may_be::doubt;
  if (x[0].target) return may_be::no;
  const auto program = without_folders(x[0].text);
  const auto* row = find_command(program);
  if (row == nullptr) return judge_program(x, rule);
  if (only_tells(program, rest)) return may_be::no;
  switch (row->what) {
    case runs::nothing: return may_be::no;
    case runs::text: return may_be::doubt;
    case runs::next: return judge_next(*row, rest, rule, depth);
    case runs::script: return judge_script(rest, rule);
    case runs::sed: return is_plain_sed_call(rest) ? may_be::no : may_be::doubt;
    case runs::if_told:
    case runs::if_first:
    case runs::if_syntax: break;
  }
  const bool sets = row->variables && std::ranges::any_of(rest, [&](auto& y) {
                      return sets_command(y, rule);
                    });
  if (sets || is_told(*row, rest) || opens_shell(program, rest))
    return may_be::doubt;
  if (!row->named) return may_be::no;
  return judge_unknown(rest, rule, renames_files(without_folders(x[0].text)));
}

may_be judge(shell_words x, const command_pattern& rule, int depth) {
  constexpr int deepest = 16;
  if (depth > deepest) return may_be::doubt;
  while (!x.empty() && is_reserved(x[0])) x = x.subspan(1);
  bool steered = false;
  while (!x.empty() && assigned(x[0])) {
    steered =
        steered || steers_programs(*assigned(x[0])) || sets_command(x[0], rule);
    x = x.subspan(1);
  }
  const auto told = x.empty() ? may_be::no : judge_command(x, rule, depth);
  return steered ? std::max(told, may_be::doubt) : told;
}

/// Lists that begin within a part. They may also be words of a command, so
/// nothing in them is sure.
may_be judge_lists(shell_words x, const command_pattern& rule) {
  int most = 16;
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    if (!may_begin_list(x[i]) || is_reserved(x[i + 1])) continue;
    if (--most < 0 || judge(x.subspan(i + 1), rule, 0) != may_be::no)
      return may_be::doubt;
  }
  return may_be::no;
}

/// What make is told of variables, by words or by its environment, it runs with
/// a shell (make's manual, 10.3 "Variables Used by Implicit Rules").
bool may_tell_make(const shell_word& x, const command_pattern& rule) {
  const auto value = x.text.find('=');
  if (value == std::string::npos) return false;
  const bool odd = x.text.find_first_not_of(
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "0123456789_./:,+@= -") != std::string::npos;
  return odd || !is_plain(x) || mentions(x.text.substr(value), rule);
}

/// A word by which the shell sets variables without naming their values.
bool sets_unseen(const shell_word& x) {
  return matches_any(
             "read mapfile readarray getopts for select declare "
             "typeset local readonly export",
             x.text) &&
         !x.quoted;
}

/// A line that runs make, with variables of its own.
bool tells_make(const shell_line& line, const command_pattern& rule) {
  const auto any_word = [&](auto f) {
    return std::ranges::any_of(line.parts, [&](const shell_part& part) {
      return std::ranges::any_of(part, f);
    });
  };
  if (!any_word(
          [](const shell_word& x) { return is_make(without_folders(x.text)); }))
    return false;
  const bool exports =
      any_word([](const shell_word& x) { return x.text == "export"; });
  return any_word([&](const shell_word& x) {
    return may_tell_make(x, rule) ||
           (exports && x.text != "export" && sets_unseen(x));
  });
}

}  // namespace

may_be compare(const shell_line& line, std::string_view pattern) {
  const command_pattern rule{pattern};
  const bool seen = line.clear && !tells_make(line, rule) &&
                    !reads_program_elsewhere(line, rule);
  auto worst = seen ? may_be::no : may_be::doubt;
  for (const auto& part : line.parts) {
    worst = std::max(worst, judge(part, rule, 0));
    if (worst == may_be::no) worst = judge_lists(part, rule);
    if (worst >= may_be::yes) return worst;
  }
  return worst;
}

}  // namespace riffle::core
