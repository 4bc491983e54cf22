// SPDX-License-Identifier: MIT
#include "actors/core/always_scope.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "actors/core/always_table.hpp"
#include "actors/core/approval_rules.hpp"
#include "actors/core/command_doubt.hpp"
#include "actors/core/command_table.hpp"
#include "actors/core/plain_command.hpp"
#include "actors/core/shell_parts.hpp"

namespace riffle::core {

namespace {

/// A command that no pattern names: what cannot be told apart from it has words
/// that are commands, too, or more than one reading.
constexpr std::string_view no_command = "\x01";

bool runs_only_itself(std::string_view line) {
  return compare(shell_parts(line), no_command) == may_be::no;
}

bool has_wildcard(std::string_view x) {
  return x.find_first_of("*?") != std::string_view::npos;
}

/// Of a folder, whatever its name: only a file's content says what it does.
bool has_place(std::string_view command) {
  return command.find('/') != command.npos;
}

/// Its first words say nothing about what is run.
bool is_named_by_others(std::string_view command) {
  const auto* row = find_command(command);
  return row != nullptr &&
         (row->what == runs::next || row->what == runs::script);
}

/// Git writes to any file, runs what lies there, or talks with another host.
bool takes_git_elsewhere(std::string_view line) {
  return std::ranges::any_of(shell_parts(line).parts, [](const auto& part) {
    return git_writes_output(part) || git_names_host(part) ||
           git_runs_others(part);
  });
}

/// Leads out of the folder somewhere: `/x`, `a/../../x`, `--to=~/x`, or into
/// what git keeps of it, where files are programs (`.git/hooks`). A place
/// behind `@`, `:`, `+` or `=` begins there (`@/etc/x`, `host:/x`, `http://x`).
bool leaves_folder(std::string_view word) {
  bool begins = true;
  while (!word.empty()) {
    const auto end =
        std::min(word.find_first_of("/@:+="), word.size());  // of a name
    const auto name = word.substr(0, end);
    const bool glued = name.starts_with('-');  // -C..
    for (const std::string_view place : {"..", ".git"})
      if (name == place || (glued && name.ends_with(place))) return true;
    if (begins && name.starts_with('~')) return true;
    if (end == word.size()) break;
    const bool place = word[end] == '/';
    if (place && begins && name.empty()) return true;
    begins = !place;
    word.remove_prefix(end + 1);
  }
  return false;
}

/// What is built or tested, by a name or a place below the folder; no variable,
/// which may be a program.
bool is_target(std::string_view word) {
  constexpr std::string_view usual =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@+-";
  return word.find_first_not_of(usual) == word.npos && !leaves_folder(word);
}

/// How much at once, how loud; none that names a program or another file of
/// rules.
bool is_build_option(std::string_view word) {
  if (word.starts_with("--"))
    return matches_any(
        "--keep-going --silent --quiet --verbose --no-print-directory "
        "--output-on-failure --parallel --target",
        word);
  const auto letters = word.substr(1, word.find_last_not_of("0123456789"));
  return !letters.empty() &&
         letters.find_first_not_of("jklsqvnxBV") == letters.npos;
}

/// How a program is told in which folder it finds its rules.
std::string_view folder_option(std::string_view builder) {
  if (builder == "cmake") return "--build";
  if (builder == "ctest") return "--test-dir";
  return builder == "pytest" ? std::string_view{} : "-C";
}

/// A plain line that builds or tests what the project's own files say, and
/// nothing else: its pattern, else nothing. The folder that holds those files
/// is a part of it, and stands first.
std::string pattern_of_build(std::string_view plain) {
  const auto take = [&] {
    const auto word = plain.substr(0, plain.find(' '));
    plain.remove_prefix(std::min(word.size() + 1, plain.size()));
    return word;
  };
  const auto first = take();
  if (first != "cmake" && !is_builder(first)) return {};
  std::string out{first};
  const auto option = folder_option(first);
  if (!option.empty() && plain.substr(0, plain.find(' ')) == option) {
    out += " " + std::string{take()};
    const auto folder = take();
    if (folder.starts_with('-') || folder.empty() || !is_target(folder))
      return {};
    out += " " + std::string{folder};
  } else if (first == "cmake") {
    return {};
  }
  while (!plain.empty()) {
    const auto word = take();
    if (word.starts_with('-') ? !is_build_option(word) : !is_target(word))
      return {};
  }
  return out + " *";
}

/// A program of the folder, or a file that one runs (`python3 x.py`): the words
/// that name it, else nothing. What a name of a command means is not known by
/// where it lies (`./make`).
std::string_view script_words(std::string_view plain) {
  const auto first = plain.substr(0, plain.find(' '));
  const auto* row = find_command(first.substr(first.rfind('/') + 1));
  if (has_place(first))
    return row == nullptr && is_target(first) ? first : std::string_view{};
  if (row == nullptr || row->what != runs::script || first == plain) return {};
  const auto rest = plain.substr(first.size() + 1);
  const auto file = rest.substr(0, rest.find(' '));
  if (file.starts_with('-') || !is_target(file)) return {};
  return plain.substr(0, first.size() + 1 + file.size());
}

/// A name, a place below the folder, a switch, or one with such a value behind
/// `=`: behind a letter alone (`-o/etc/x`) it may be anywhere.
bool is_script_argument(std::string_view word) {
  if (!word.starts_with('-')) return is_target(word);
  const auto value = std::min(word.find('='), word.size());
  const auto name = word.substr(0, value);
  return is_target(name) && !has_place(name) &&
         is_target(word.substr(std::min(value + 1, word.size())));
}

/// Whether no word behind the command leads out of the folder, or has it be
/// another one (`cargo +x`).
bool stays_here(std::string_view line, std::string_view command) {
  const auto parts = shell_parts(line).parts;
  if (parts.size() != 1) return false;
  return std::ranges::all_of(
      parts[0] | std::views::drop(1), [&](const shell_word& x) {
        const std::string_view word = x.text;
        if (!takes_texts(command))
          return is_script_argument(word) && !word.starts_with('+');
        const auto name = word.substr(0, word.find('='));
        return !leaves_folder(word) &&
               !(word.starts_with('-') && has_place(name));
      });
}

/// A plain line that runs a file of the folder with plain words: the file and
/// the first of them, which says what it does.
std::string pattern_of_script(std::string_view plain) {
  const auto script = script_words(plain);
  if (script.empty() || script == plain) return std::string{script};
  auto rest = plain.substr(script.size());
  const auto first = rest.substr(1, rest.find(' ', 1) - 1);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto word = rest.substr(0, rest.find(' '));
    if (!is_script_argument(word)) return {};
    rest.remove_prefix(word.size());
  }
  return std::string{script} + " " + std::string{first} + " *";
}

std::string pattern_of_command(std::string_view line) {
  const auto plain = plain_command(line);
  // A quoted word may hold anything, also a command.
  if (!plain || has_wildcard(*plain) || plain->find('\'') != plain->npos)
    return {};
  const std::string_view text = *plain;
  const auto end = std::min(text.find(' '), text.size());
  const auto first = text.substr(0, end);
  if (auto build = pattern_of_build(text); !build.empty()) return build;
  if (!script_words(text).empty()) return pattern_of_script(text);
  if (has_place(first) || is_named_by_others(first)) return {};
  const auto rest = text.substr(std::min(end + 1, text.size()));
  const auto second = rest.substr(0, rest.find(' '));
  const auto is_word = [](std::string_view x) {
    return !x.empty() && !x.starts_with('-');
  };
  if (is_word(second) && has_subcommands(first)) {
    auto pattern = std::string{first} + " " + std::string{second};
    if (!is_runner(second)) return pattern + " *";
    const auto more = rest.substr(std::min(second.size() + 1, rest.size()));
    const auto third = more.substr(0, more.find(' '));
    if (!is_word(third)) return {};
    return pattern + " " + std::string{third} + " *";
  }
  if (rest.empty() && !is_harmless(first)) return std::string{first};
  return is_harmless(first) ? std::string{first} + " *" : std::string{};
}

/// Between the patterns of commands that a line joins.
constexpr std::string_view joint = " | ";

std::string_view first_word(std::string_view command) {
  return command.substr(0, command.find(' '));
}

/// Behind `cd` others are about another folder, and what comes through a pipe
/// is from anywhere: there stand only such as do nothing but look. The first
/// one that does more, or nothing.
const joined_command* one_misplaced(
    const std::vector<joined_command>& commands) {
  const auto changes = [](const auto& x) { return first_word(x.text) == "cd"; };
  const bool moved = std::ranges::any_of(commands, changes);
  const auto found =
      std::ranges::find_if(commands, [&](const joined_command& x) {
        return !is_harmless(first_word(x.text)) && (moved || x.piped);
      });
  return found == commands.end() ? nullptr : &*found;
}

/// What it grants is read as one line by who is asked.
constexpr std::size_t longest_joined = 120;

bool joined_match(std::string_view pattern, const rule_subject& subject) {
  if (!subject.shell || !runs_only_itself(subject.text)) return false;
  auto commands = joined_commands(subject.text);
  if (commands.empty()) commands.push_back({subject.text});
  const auto patterns = patterns_of(pattern);
  return one_misplaced(commands) == nullptr &&
         std::ranges::all_of(commands, [&](const joined_command& x) {
           return std::ranges::any_of(patterns, [&](std::string_view one) {
             return one.ends_with(" *") &&
                    always_matches(one, {.text = x.text, .shell = true});
           });
         });
}

/// The folder of a file, the host of an address.
std::string pattern_of_text(const std::string& text) {
  if (text.empty() || text.front() == '{') return {};
  const auto scheme = text.find("://");
  if (scheme != std::string::npos) {
    const auto end = text.find_first_of("/?#", scheme + 3);
    if (end == std::string::npos || text[end] != '/') return {};
    const auto host = text.substr(0, end);
    return has_wildcard(host) ? std::string{} : host + "/*";
  }
  if (has_wildcard(text)) return {};
  const auto slash = text.rfind('/');
  if (slash == std::string::npos) return text;
  return text.substr(0, slash) + "/*";
}

}  // namespace

namespace {

/// With a word, or a letter, for all that stands in quotes.
std::string without_quotes(std::string_view plain) {
  std::string out;
  bool within = false;
  for (const char c : plain) {
    if (c == '\'')
      out += std::exchange(within, !within) ? "x" : "";
    else if (!within)
      out += has_wildcard({&c, 1}) ? 'x' : c;
  }
  return out;
}

/// Of one command. What is offered covers at least that which it is offered
/// for.
always_offer offer_for_command(std::string_view line) {
  const auto plain = plain_command(line);
  if (!plain) return {.why = no_pattern::not_plain};
  auto pattern = pattern_of_command(line);
  if (always_matches(pattern, {.text = std::string{line}, .shell = true}))
    return {.pattern = std::move(pattern)};
  const auto bare = without_quotes(*plain);
  const bool quoted =
      bare != *plain && !offer_for_command(bare).pattern.empty();
  return {.why = quoted ? no_pattern::quoted : no_pattern::follows,
          .command = *plain};
}

always_offer offer_for_joined(const rule_subject& subject) {
  const auto commands = joined_commands(subject.text);
  const auto none = [](no_pattern why, std::string_view command = {}) {
    return always_offer{.why = why, .command = std::string{command}};
  };
  if (commands.empty()) return none(no_pattern::not_plain);
  std::vector<std::string> all;
  for (const auto& x : commands) {
    auto one = offer_for_command(x.text);
    if (one.pattern.empty()) return one;
    // What it was bound to would be the content of several files.
    if (!one.pattern.ends_with(" *") || !script_of_line(one.pattern).empty())
      return none(no_pattern::alone, x.text);
    if (std::ranges::find(all, one.pattern) == all.end())
      all.push_back(std::move(one.pattern));
  }
  if (const auto* x = one_misplaced(commands))
    return none(x->piped ? no_pattern::piped : no_pattern::moved, x->text);
  std::string out;
  for (const auto& x : all) out.append(out.empty() ? "" : joint).append(x);
  if (out.size() > longest_joined) return none(no_pattern::too_long);
  // Else it is the pattern of one command, which says nothing of several.
  if (all.size() == 1) out.append(joint).append(all[0]);
  if (!always_matches(out, subject)) return none(no_pattern::not_plain);
  return {.pattern = std::move(out)};
}

}  // namespace

always_offer offer_always(const rule_subject& subject) {
  if (!subject.known) return {.why = no_pattern::not_known};
  if (subject.shell) {
    auto one = offer_for_command(subject.text);
    return one.why == no_pattern::not_plain ? offer_for_joined(subject) : one;
  }
  auto pattern = pattern_of_text(subject.text);
  if (always_matches(pattern, subject)) return {.pattern = std::move(pattern)};
  return {.why = no_pattern::not_plain};
}

std::string always_pattern(const rule_subject& subject) {
  return offer_always(subject).pattern;
}

std::vector<std::string_view> patterns_of(std::string_view joined) {
  std::vector<std::string_view> out;
  for (auto end = joined.find(joint); end != joined.npos;
       end = joined.find(joint)) {
    out.push_back(joined.substr(0, end));
    joined.remove_prefix(end + joint.size());
  }
  out.push_back(joined);
  return out;
}

std::string script_of_line(std::string_view line) {
  if (line.ends_with(" *")) line.remove_suffix(2);
  const auto plain = plain_command(line);
  return plain ? std::string{script_words(*plain)} : std::string{};
}

bool always_matches(std::string_view pattern, const rule_subject& subject) {
  if (pattern.empty()) return false;
  if (pattern.find(joint) != pattern.npos)
    return joined_match(pattern, subject);
  if (subject.shell && takes_git_elsewhere(subject.text)) return false;
  if (subject.shell && !runs_only_itself(subject.text)) return false;
  // Others let what follows mean anything.
  const auto command = pattern.substr(0, pattern.find(' '));
  if (subject.shell && pattern.ends_with(" *") && has_subcommands(command) &&
      !stays_here(subject.text, command))
    return false;
  if (subject.shell && has_place(command) && script_of_line(pattern).empty())
    return false;
  if (subject.shell && pattern.ends_with(" *") && !has_subcommands(command) &&
      !is_harmless(command)) {
    const auto plain = plain_command(subject.text);
    if (!plain || (pattern_of_build(*plain) != pattern &&
                   pattern_of_script(*plain) != pattern))
      return false;
  }
  std::vector<approval_rule> rules{
      {std::string{pattern}, approval_policy::allow}};
  if (subject.shell && pattern.ends_with(" *"))
    rules.push_back({std::string{pattern.substr(0, pattern.size() - 2)},
                     approval_policy::allow});
  return policy_of(subject, approval_policy::ask, rules) ==
         approval_policy::allow;
}

}  // namespace riffle::core
