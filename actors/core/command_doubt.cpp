// SPDX-License-Identifier: MIT
#include "actors/core/command_doubt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "actors/core/approval_rules.hpp"
#include "actors/core/command_table.hpp"
#include "actors/core/sed_script.hpp"

namespace riffle::core {

namespace {

using words = std::span<const shell_word>;

constexpr std::string_view operators = ";&|<>()`\n";

std::string_view without_folders(std::string_view x) {
  const auto slash = x.rfind('/');
  return slash == std::string_view::npos ? x : x.substr(slash + 1);
}

bool is_option(std::string_view x) { return x.starts_with('-'); }

bool is_plain(const shell_word& x) { return x.kind == word_kind::plain; }

/// The targets of a part's redirections are its last words.
words without_targets(words x) {
  const auto first = std::ranges::find_if(x, &shell_word::target);
  return x.first(static_cast<std::size_t>(first - x.begin()));
}

/// Words after which a command stands, or nothing.
bool is_reserved(const shell_word& x) {
  constexpr std::array<std::string_view, 15> all = {
      "!",     "{",  "}",  "if",   "then",  "elif", "else", "fi",
      "while", "do", "in", "done", "until", "esac", ";;"};
  return !x.quoted && std::ranges::find(all, x.text) != all.end();
}

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

/// As rules see a plain command (plain_command.hpp).
std::string joined(std::string_view command, words rest) {
  std::string out{command};
  for (const auto& x : rest) {
    const bool bare =
        !x.text.empty() && x.text.find_first_of(" \t") == std::string::npos;
    out += bare ? " " + x.text : " '" + x.text + "'";
  }
  return out;
}

/// One pattern, taken apart.
class matcher {
 public:
  explicit matcher(std::string_view pattern) : pattern_{pattern} {
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
    has_operator_ = text.find_first_of(operators) != std::string_view::npos;
  }

  /// Of a simple command without reserved words and assignments.
  [[nodiscard]] may_be direct(words x) const {
    const auto& command = x[0];
    if (command.target) return targets_only(x);
    if (!is_plain(command)) return may_be::doubt;
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

  /// Any command may be what it names.
  [[nodiscard]] bool any() const { return any_; }

  /// Whether a text that a program may expand can become its name.
  [[nodiscard]] bool may_name(std::string_view text) const {
    if (names(text)) return true;
    if (text.find_first_of("*?[{~") == std::string_view::npos) return false;
    if (open_ended_) return true;
    std::string pattern{text};
    for (auto& c : pattern)
      if (std::string_view{"[]{}~"}.find(c) != std::string_view::npos) c = '*';
    const auto begin = text.find_first_of("[{");
    const auto end = text.find_last_of("]}");
    if (begin < end && end != std::string_view::npos)
      pattern.replace(begin, end - begin, "*");
    return matches_pattern(pattern, short_command_);
  }

  /// Whether a program of this name may be the pattern's.
  [[nodiscard]] bool names(std::string_view program) const {
    return open_ended_ ? program.starts_with(short_command_)
                       : program == short_command_;
  }

 private:
  [[nodiscard]] bool fits(std::string_view command, words rest) const {
    return matches_pattern(pattern_, joined(command, rest));
  }

  /// Of redirections without a command: `$(< file)` shows the file.
  [[nodiscard]] may_be targets_only(words x) const {
    if (!any_) return may_be::no;
    if (fits(x[0].text, x.subspan(1))) return may_be::yes;
    return std::ranges::all_of(x, is_plain) ? may_be::no : may_be::doubt;
  }

  /// Whether the command's words may be the pattern's, in another order or
  /// with others between them.
  [[nodiscard]] bool has_all_words(words x) const {
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

  std::string_view pattern_;
  std::string_view command_;
  std::string_view rest_;
  std::string_view short_command_;
  bool any_ = false;
  bool open_ended_ = false;
  bool has_operator_ = false;
};

may_be judge(words x, const matcher& rule, int depth);

bool sets_steering(const command_row& row, const shell_word& x) {
  const auto name = assigned(x);
  return row.variables && steers_programs(name ? *name : x.text);
}

bool is_told(const command_row& row, words rest) {
  rest = without_targets(rest);
  if (row.what == runs::if_first)
    rest = rest.first(std::min<std::size_t>(rest.size(), 1));
  for (const auto& x : rest) {
    // What is assigned stays one word, whatever it expands to.
    const bool is_fixed = is_plain(x) || row.what == runs::if_syntax ||
                          (row.variables && assigned(x));
    if (!is_fixed || sets_steering(row, x) || is_one_of(row, x.text))
      return true;
    const bool is_subcommand = row.words.find(x.text + "+-") != row.words.npos;
    if (!is_subcommand || x.text.empty()) continue;
    for (const auto& y : rest)
      if (is_one_of(row, y.text, x.text)) return true;
  }
  return row.bundled && !rest.empty() && !is_option(rest[0].text) &&
         is_one_of(row, "-" + rest[0].text);
}

/// Whether sed surely runs nothing: with options that are known, and scripts.
bool is_plain_sed_call(words rest) {
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

may_be judge_next(const command_row& row, words rest, const matcher& rule,
                  int depth) {
  const auto is_over = [&] { return rest.empty() || rest[0].target; };
  while (!is_over() && assigned(rest[0])) {
    if (steers_programs(*assigned(rest[0]))) return may_be::doubt;
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

/// A text that may be a command: no word of it is the pattern's.
bool mentions(std::string_view text, const matcher& rule) {
  const auto is_part = [](unsigned char c) {
    return c > 0x20 &&
           operators.find(static_cast<char>(c)) == std::string_view::npos &&
           std::string_view{"'\"\\$,=!"}.find(static_cast<char>(c)) ==
               std::string_view::npos;
  };
  while (!text.empty()) {
    const auto begin = static_cast<std::size_t>(
        std::ranges::find_if(text, is_part) - text.begin());
    text.remove_prefix(begin);
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, is_part) - text.begin());
    if (end > 0 && rule.may_name(without_folders(text.substr(0, end))))
      return true;
    text.remove_prefix(end);
  }
  return false;
}

/// What it is given may be text: /dev/stdin, also by a way around.
bool is_input(std::string_view file) {
  const bool leaves = file.starts_with('/') || file.find("..") != file.npos;
  return leaves && matches_any("*/dev/* */proc/*", file);
}

/// A word that may have a program do what no word says: run a shell or another
/// that runs others, or a text with quotes or expansions of its own.
bool is_obscure(const shell_word& x) {
  if (!is_plain(x) || x.text.find_first_of("'\"\\$`") != std::string::npos)
    return true;
  if (x.text.find_first_of("{") < x.text.find(',') &&
      x.text.find(',') != std::string::npos)
    return true;
  if (const auto name = assigned(x); name && steers_programs(*name))
    return true;
  const auto* row = find_command(without_folders(x.text));
  return is_input(x.text) ||
         (row != nullptr && !row->builtin &&
          (row->what == runs::text || row->what == runs::next ||
           row->what == runs::script));
}

/// A program that may run what its words name.
may_be judge_unknown(words rest, const matcher& rule) {
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
      const bool is_file = x.text.find('/') != std::string::npos;
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

may_be judge_script(words rest, const matcher& rule) {
  const bool told = std::ranges::any_of(rest, &shell_word::input);
  const auto bare = without_targets(rest);
  if (told || bare.empty() || is_option(bare[0].text)) return may_be::doubt;
  return judge_unknown(bare, rule);
}

may_be judge_command(words x, const matcher& rule, int depth) {
  const auto direct = rule.direct(x);
  if (direct != may_be::no) return direct;
  if (x[0].target) return may_be::no;
  const auto rest = x.subspan(1);
  const auto* row = find_command(without_folders(x[0].text));
  if (row == nullptr) return judge_unknown(rest, rule);
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
  if (is_told(*row, rest)) return may_be::doubt;
  return row->named ? judge_unknown(rest, rule) : may_be::no;
}

may_be judge(words x, const matcher& rule, int depth) {
  constexpr int deepest = 16;
  if (depth > deepest) return may_be::doubt;
  while (!x.empty() && is_reserved(x[0])) x = x.subspan(1);
  bool steered = false;
  while (!x.empty() && assigned(x[0])) {
    steered = steered || steers_programs(*assigned(x[0]));
    x = x.subspan(1);
  }
  const auto told = x.empty() ? may_be::no : judge_command(x, rule, depth);
  return steered ? std::max(told, may_be::doubt) : told;
}

/// Lists that begin within a part. They may also be words of a command, so
/// nothing in them is sure.
may_be judge_lists(words x, const matcher& rule) {
  int most = 16;
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    if (!may_begin_list(x[i]) || is_reserved(x[i + 1])) continue;
    if (--most < 0 || judge(x.subspan(i + 1), rule, 0) != may_be::no)
      return may_be::doubt;
  }
  return may_be::no;
}

}  // namespace

may_be compare(const shell_line& line, std::string_view pattern) {
  const matcher rule{pattern};
  auto worst = line.clear ? may_be::no : may_be::doubt;
  for (const auto& part : line.parts) {
    worst = std::max(worst, judge(part, rule, 0));
    if (worst == may_be::no) worst = judge_lists(part, rule);
    if (worst >= may_be::yes) return worst;
  }
  return worst;
}

}  // namespace riffle::core
