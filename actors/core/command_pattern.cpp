// SPDX-License-Identifier: MIT
#include "actors/core/command_pattern.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "actors/core/approval_rules.hpp"

namespace riffle::core {

namespace {

/// As rules see a plain command (plain_command.hpp).
std::string joined(std::string_view command, shell_words rest) {
  std::string out{command};
  for (const auto& x : rest) {
    const bool bare =
        !x.text.empty() && x.text.find_first_of(" \t") == std::string::npos;
    out += bare ? " " + x.text : " '" + x.text + "'";
  }
  return out;
}

/// Whether what the shell makes of a word may begin so.
bool may_begin_with(std::string_view word, std::string_view begin) {
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (i == word.size()) return false;
    if (std::string_view{"*[{~$"}.find(word[i]) != std::string_view::npos)
      return true;
    if (word[i] != '?' && word[i] != begin[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view without_folders(std::string_view x) {
  const auto slash = x.rfind('/');
  return slash == std::string_view::npos ? x : x.substr(slash + 1);
}

shell_words without_targets(shell_words x) {
  const auto first = std::ranges::find_if(x, &shell_word::target);
  return x.first(static_cast<std::size_t>(first - x.begin()));
}

command_pattern::command_pattern(std::string_view pattern) : pattern_{pattern} {
  const auto begin = std::min(pattern.find_first_not_of(' '), pattern.size());
  const auto text = pattern.substr(begin);
  const auto end = std::min(text.find(' '), text.size());
  command_ = text.substr(0, end);
  rest_ = text.substr(end);
  const auto wild = command_.find_first_of("*?");
  any_ = wild == 0;
  short_command_ = without_folders(command_.substr(0, wild));
  if (wild != std::string_view::npos) {
    open_ended_ = true;
    any_ = any_ || short_command_.empty();
  }
  has_operator_ = text.find_first_of(shell_operators) != std::string_view::npos;
}

may_be command_pattern::direct(shell_words x) const {
  const auto& command = x[0];
  if (command.target) return targets_only(x);
  if (!is_plain(command)) return may_be::doubt;
  const auto name = without_folders(command.text);
  // Each command of git is a program, too.
  if (name.starts_with("git-") && names("git")) {
    std::vector<shell_word> words(x.begin(), x.end());
    words[0].text = "git";
    words.insert(words.begin() + 1, shell_word{std::string{name.substr(4)}});
    return std::max(direct(words), fits_as_it_is(x));
  }
  return fits_as_it_is(x);
}

may_be command_pattern::fits_as_it_is(shell_words x) const {
  const auto& command = x[0];
  const auto name = without_folders(command.text);
  // Seldom: so that only what has the name is looked at as a whole.
  if (!any_ && !names(name)) return may_be::no;
  const auto rest = x.subspan(1);
  const auto bare = without_targets(rest);
  if (fits(command.text, bare) || fits(name, bare)) return may_be::yes;
  if (bare.size() < rest.size() &&
      (fits(command.text, rest) || fits(name, rest)))
    return may_be::yes;
  if (has_operator_ || !std::ranges::all_of(rest, is_plain))
    return may_be::doubt;
  if (any_) return may_be::no;
  if (fits(command_, rest)) return may_be::doubt;
  return has_all_words(rest) ? may_be::doubt : may_be::no;
}

bool command_pattern::may_name(std::string_view text) const {
  if (names(text)) return true;
  if (text.find_first_of("*?[{~") == std::string_view::npos) return false;
  if (open_ended_) return may_begin_with(text, short_command_);
  std::string pattern{text};
  for (auto& c : pattern)
    if (std::string_view{"[]{}~"}.find(c) != std::string_view::npos) c = '*';
  const auto begin = text.find_first_of("[{");
  const auto end = text.find_last_of("]}");
  if (begin < end && end != std::string_view::npos)
    pattern.replace(begin, end - begin, "*");
  return matches_pattern(pattern, short_command_);
}

bool command_pattern::may_end_in(std::string_view end) const {
  if (end.empty() || end.find('/') != end.npos) return false;
  const auto literal = end.substr(end.find_last_of("*?]}") + 1);
  if (literal.empty()) return !end.starts_with('*');
  if (!open_ended_) return short_command_.ends_with(literal);
  for (std::size_t i = 0; i < short_command_.size(); ++i)
    if (literal.starts_with(short_command_.substr(i))) return true;
  return false;
}

bool command_pattern::names(std::string_view program) const {
  return open_ended_ ? program.starts_with(short_command_)
                     : program == short_command_;
}

bool command_pattern::fits(std::string_view command, shell_words rest) const {
  return matches_pattern(pattern_, joined(command, rest));
}

/// Of redirections without a command: `$(< file)` shows the file.
may_be command_pattern::targets_only(shell_words x) const {
  if (!any_) return may_be::no;
  if (fits(x[0].text, x.subspan(1))) return may_be::yes;
  return std::ranges::all_of(x, is_plain) ? may_be::no : may_be::doubt;
}

/// Whether the command's words may be the pattern's, in another order or
/// with others between them.
bool command_pattern::has_all_words(shell_words x) const {
  for (auto rest = rest_; !rest.empty();) {
    const auto begin = std::min(rest.find_first_not_of(' '), rest.size());
    rest.remove_prefix(begin);
    const auto end = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(end);
    if (word.find_first_not_of('*') == std::string_view::npos) continue;
    const bool found = std::ranges::any_of(x, [&](const shell_word& y) {
      return matches_pattern(word, y.text) ||
             (is_option(word) && is_option(y.text));
    });
    if (!found) return false;
  }
  return true;
}

}  // namespace riffle::core
