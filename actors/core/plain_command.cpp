// SPDX-License-Identifier: MIT
#include "actors/core/plain_command.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/unseen.hpp"
#include "messages/utf8.hpp"

namespace riffle::core {

namespace {

constexpr std::string_view blanks = " \t";
/// Mean something to a shell outside of quotes.
constexpr std::string_view operators = ";&|<>()$`\\*?[]{}~!#\n\r";
/// Mean something to a shell also between double quotes.
constexpr std::string_view in_double_quotes = "$`\\!\n\r";

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
}

bool is_in(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

/// A person takes it for a blank, or does not see it, or reads what stands
/// beside it in another order: a shell, for a part of a word.
bool looks_blank(char32_t code) {
  return (code >= 0x80 && code < 0xA0) || code == 0x1680 || is_joiner(code) ||
         turns_direction(code) || is_unseen(code);
}

/// Also in quotes: the words that are shown would be others than those that
/// run.
bool has_false_blank(std::string_view line) {
  while (!line.empty()) {
    const auto x = first_character(line);
    if (x.valid && looks_blank(x.code)) return true;
    line.remove_prefix(x.size);
  }
  return false;
}

/// Walks over a line word by word.
class words {
 public:
  explicit words(std::string_view line) : rest_{line} {}

  /// The next word as it is to be written; empty: there is none, or the line
  /// is not plain.
  std::string next() {
    const auto begin = rest_.find_first_not_of(blanks);
    rest_.remove_prefix(std::min(begin, rest_.size()));
    word_.clear();
    bool any = false;
    while (plain_ && !rest_.empty() && !is_in(blanks, rest_.front())) {
      any = true;
      take();
    }
    if (!any || !plain_) return {};
    const bool bare =
        !word_.empty() && word_.find_first_of(blanks) == std::string::npos;
    return bare ? word_ : "'" + word_ + "'";
  }

  [[nodiscard]] bool plain() const { return plain_; }

 private:
  void take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\'') return take_quoted(c, "");
    if (c == '"') return take_quoted(c, in_double_quotes);
    plain_ = !is_control(c) && !is_in(operators, c);
    word_ += c;
  }

  void take_quoted(char quote, std::string_view special) {
    const auto end = rest_.find(quote);
    plain_ = end != std::string_view::npos;
    if (!plain_) return;
    const auto inside = rest_.substr(0, end);
    plain_ = std::ranges::none_of(inside, is_control) &&
             inside.find_first_of(special) == std::string_view::npos &&
             inside.find('\'') == std::string_view::npos;
    word_ += inside;
    rest_.remove_prefix(end + 1);
  }

  std::string_view rest_;
  std::string word_;
  bool plain_ = true;
};

/// `NAME=value`, which a shell puts into the environment.
bool is_assignment(std::string_view word) {
  return word.find('=') != std::string_view::npos;
}

/// One blank between words, nothing that only quotes or escapes.
std::string squeezed(std::string_view x) {
  std::string out;
  for (const char c : x) {
    if (c == '\'' || c == '"' || c == '\\') continue;
    const bool blank = is_in(blanks, c);
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Where the next operator between commands stands, if not at its end.
std::size_t end_of_command(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ';' || c == '|') {
      return i;
    } else if (c == '&' && (i == 0 || line[i - 1] != '>')) {
      return i;
    }
  }
  return line.size();
}

/// Its errors go where its output goes, or nowhere: nothing is written.
std::string_view without_errors(std::string_view command) {
  constexpr std::array redirections = {std::string_view{" 2>&1"},
                                       std::string_view{" 2>/dev/null"}};
  const auto trim = [&] {
    const auto begin =
        std::min(command.find_first_not_of(blanks), command.size());
    command.remove_prefix(begin);
    command = command.substr(0, command.find_last_not_of(blanks) + 1);
  };
  trim();
  for (const auto end : redirections)
    if (command.ends_with(end)) {
      command.remove_suffix(end.size());
      trim();
    }
  return command;
}

std::string without_assignments(const std::string& x) {
  std::string_view rest = x;
  for (;;) {
    const auto end = rest.find(' ');
    if (end == std::string_view::npos || !is_assignment(rest.substr(0, end)))
      return std::string{rest};
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> plain_command(std::string_view line) {
  if (has_false_blank(line)) return std::nullopt;
  words all{line};
  std::string out;
  for (auto word = all.next(); !word.empty(); word = all.next()) {
    if (out.empty() && is_assignment(word)) return std::nullopt;
    if (!out.empty()) out += ' ';
    out += word;
  }
  if (!all.plain() || out.empty()) return std::nullopt;
  return out;
}

std::vector<joined_command> joined_commands(std::string_view line) {
  constexpr std::size_t most = 16;
  const auto whole = line;
  std::vector<joined_command> out;
  bool piped = false;
  while (out.size() < most) {
    const auto end = end_of_command(line);
    const auto piece = without_errors(line.substr(0, end));
    if (!plain_command(piece)) return {};
    out.push_back({std::string{piece}, piped});
    if (end == line.size()) break;
    const bool twice = end + 1 < line.size() && line[end + 1] == line[end];
    // In the background (`&`), with its errors (`|&`), of a `case` (`;;`).
    if (twice ? line[end] == ';' : line[end] == '&') return {};
    piped = !twice && line[end] == '|';
    line.remove_prefix(end + (twice ? 2 : 1));
    if (out.size() == most) return {};
  }
  if (out.size() < 2 && plain_command(whole)) out.clear();
  return out;
}

std::vector<std::string> rough_commands(std::string_view line) {
  std::vector<std::string> out;
  const auto keep = [&](std::string_view piece) {
    auto text = without_assignments(squeezed(piece));
    if (!text.empty()) out.push_back(std::move(text));
  };
  constexpr std::string_view borders = ";&|<>()`{}\n\r";
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find_first_of(borders, at), line.size());
    keep(line.substr(at, end - at));
    at = end + 1;
  }
  // What stands in quotes may be a command of its own: sh -c "rm -rf x".
  constexpr std::string_view quotes = "'\"";
  for (auto at = line.find_first_of(quotes); at != std::string_view::npos;) {
    const auto end = line.find(line[at], at + 1);
    if (end == std::string_view::npos) break;
    keep(line.substr(at + 1, end - at - 1));
    at = line.find_first_of(quotes, end + 1);
  }
  return out;
}

}  // namespace riffle::core
