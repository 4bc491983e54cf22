// SPDX-License-Identifier: MIT
#include "actors/core/plain_command.hpp"

#include <algorithm>
#include <utility>

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
