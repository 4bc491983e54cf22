// SPDX-License-Identifier: MIT
#include "actors/core/command_doubt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "actors/core/approval_rules.hpp"
#include "actors/core/command_table.hpp"

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

/// Words after which a command stands, or nothing.
bool is_reserved(const shell_word& x) {
  constexpr std::array<std::string_view, 15> all = {
      "!",     "{",  "}",  "if",   "then",  "elif", "else", "fi",
      "while", "do", "in", "done", "until", "esac", ";;"};
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
    const auto rest = x.subspan(1);
    if (!is_plain(command)) return may_be::doubt;
    const auto name = without_folders(command.text);
    if (matches_pattern(pattern_, joined(command.text, rest)) ||
        matches_pattern(pattern_, joined(name, rest)))
      return may_be::yes;
    if (!any_ && !names(name)) return may_be::no;
    if (has_operator_ || !std::ranges::all_of(rest, is_plain))
      return may_be::doubt;
    if (any_) return may_be::no;
    const auto text = std::string{command_} + joined("", rest);
    if (matches_pattern(pattern_, text)) return may_be::doubt;
    return has_all_words(rest) ? may_be::doubt : may_be::no;
  }

  /// Any command may be what it names.
  [[nodiscard]] bool any() const { return any_; }

  /// Whether a program of this name may be the pattern's.
  [[nodiscard]] bool names(std::string_view program) const {
    return open_ended_ ? program.starts_with(short_command_)
                       : program == short_command_;
  }

 private:
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

bool is_told(const command_row& row, words rest) {
  bool first = true;
  for (const auto& x : rest) {
    if (x.kind == word_kind::open && !row.as_written) return true;
    const bool looked_at =
        row.what == runs::if_told || is_option(x.text) || first;
    if (looked_at && matches_any(row.words, x.text)) return true;
    first = first && is_option(x.text);
  }
  return false;
}

may_be judge_next(const command_row& row, words rest, const matcher& rule,
                  int depth) {
  while (!rest.empty() && assigned(rest[0])) {
    if (steers_programs(*assigned(rest[0]))) return may_be::doubt;
    rest = rest.subspan(1);
  }
  for (int i = 0; i < row.operands && !rest.empty(); ++i) {
    if (!is_plain(rest[0]) || is_option(rest[0].text)) return may_be::doubt;
    rest = rest.subspan(1);
  }
  if (rest.empty()) return may_be::no;
  if (is_option(rest[0].text)) return may_be::doubt;
  const auto inner = judge(rest, rule, depth + 1);
  return inner == may_be::yes ? may_be::yes_told : inner;
}

/// A text that may be a command: no word of it is the pattern's.
bool mentions(std::string_view text, const matcher& rule) {
  const auto is_part = [](unsigned char c) {
    return c > 0x20 &&
           operators.find(static_cast<char>(c)) == std::string_view::npos &&
           std::string_view{"'\"\\{}$,="}.find(static_cast<char>(c)) ==
               std::string_view::npos;
  };
  while (!text.empty()) {
    const auto begin = static_cast<std::size_t>(
        std::ranges::find_if(text, is_part) - text.begin());
    text.remove_prefix(begin);
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, is_part) - text.begin());
    if (end > 0 && rule.names(without_folders(text.substr(0, end))))
      return true;
    text.remove_prefix(end);
  }
  return false;
}

/// A program that may run what its words name.
may_be judge_unknown(words rest, const matcher& rule) {
  if (rule.any()) return may_be::no;
  for (; !rest.empty(); rest = rest.subspan(1)) {
    const auto& x = rest[0];
    if (is_plain(x) && rule.direct(rest) != may_be::no) return may_be::doubt;
    // The file of the program: it may get another name (cp, ln).
    if (x.text.find('/') != std::string::npos &&
        rule.names(without_folders(x.text)))
      return may_be::doubt;
    const bool text = x.text.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_./-+") != std::string::npos;
    if (text && mentions(x.text, rule)) return may_be::doubt;
  }
  return may_be::no;
}

may_be judge_command(words x, const matcher& rule, int depth) {
  const auto direct = rule.direct(x);
  if (direct != may_be::no) return direct;
  const auto rest = x.subspan(1);
  const auto* row = find_command(without_folders(x[0].text));
  if (row == nullptr) return judge_unknown(rest, rule);
  switch (row->what) {
    case runs::nothing: return may_be::no;
    case runs::text: return may_be::doubt;
    case runs::next: return judge_next(*row, rest, rule, depth);
    case runs::script:
      return rest.empty() || !is_plain(rest[0]) || is_option(rest[0].text)
                 ? may_be::doubt
                 : judge_unknown(rest, rule);
    case runs::if_told:
    case runs::if_first: break;
  }
  return is_told(*row, rest) ? may_be::doubt : may_be::no;
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

}  // namespace

may_be compare(const shell_line& line, std::string_view pattern) {
  const matcher rule{pattern};
  auto worst = line.clear ? may_be::no : may_be::doubt;
  for (const auto& part : line.parts) {
    worst = std::max(worst, judge(part, rule, 0));
    if (worst >= may_be::yes) return worst;
  }
  return worst;
}

}  // namespace riffle::core
