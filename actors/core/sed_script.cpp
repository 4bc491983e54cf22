// SPDX-License-Identifier: MIT
#include "actors/core/sed_script.hpp"

#include <algorithm>

namespace riffle::core {

namespace {

/// Behind the bracket expression that begins at `at` (POSIX, 9.3.5); npos: it
/// has no end.
std::size_t bracket_end(std::string_view x, std::size_t at) {
  ++at;
  if (at < x.size() && x[at] == '^') ++at;
  if (at < x.size() && x[at] == ']') ++at;
  while (at < x.size() && x[at] != ']') {
    const bool named = x[at] == '[' && at + 1 < x.size() &&
                       std::string_view{":=."}.find(x[at + 1]) != x.npos;
    if (!named) {
      ++at;
      continue;
    }
    const char close[] = {x[at + 1], ']'};
    at = x.find(std::string_view{close, 2}, at + 2);
    if (at == x.npos) return x.npos;
    at += 2;
  }
  return at < x.size() ? at + 1 : x.npos;
}

class reader {
 public:
  explicit reader(std::string_view script) : rest_{script} {}

  bool is_plain() && {
    for (;;) {
      skip(" \t;{}");
      if (rest_.empty()) return true;
      if (!address() || !command()) return false;
    }
  }

 private:
  void skip(std::string_view set) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(set), rest_.size()));
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Up to behind the next delimiter that no backslash escapes.
  bool pass(char delimiter) {
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      if (rest_[at] == '\\') {
        ++at;
      } else if (rest_[at] == delimiter) {
        rest_.remove_prefix(at + 1);
        return true;
      }
    }
    return false;
  }

  /// So, of a regular expression. In a bracket some seds take the delimiter
  /// for itself, others for the end: then it is not known.
  bool pass_regex(char delimiter) {
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == delimiter) {
        rest_.remove_prefix(at + 1);
        return true;
      }
      if (c == '\\') ++at;
      if (c != '[') continue;
      const auto end = bracket_end(rest_, at);
      if (end == std::string_view::npos ||
          rest_.substr(at, end - at).find(delimiter) != std::string_view::npos)
        return false;
      at = end - 1;
    }
    return false;
  }

  bool line() {
    if (take('/')) return pass_regex('/');
    if (!take('$')) skip("0123456789");
    return true;
  }

  bool address() {
    if (!line()) return false;
    if (take(',') && !line()) return false;
    skip(" \t");
    while (take('!')) skip(" \t");
    return true;
  }

  bool command() {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view simple = "pPdDqQ=hHgGnNxlz";
    if (simple.find(c) != std::string_view::npos) return is_over();
    if (c == 's') return substitute();
    if (c == '{') return true;
    // Text to the end of the line; a backslash at its end takes more.
    if (std::string_view{"aic"}.find(c) != std::string_view::npos) {
      const bool ends = !rest_.ends_with('\\');
      rest_ = {};
      return ends;
    }
    return false;
  }

  bool substitute() {
    if (rest_.empty()) return false;
    const char delimiter = rest_.front();
    rest_.remove_prefix(1);
    if (delimiter == '\\' || !pass_regex(delimiter) || !pass(delimiter))
      return false;
    skip("gpiIM0123456789");
    return is_over();
  }

  [[nodiscard]] bool is_over() {
    skip(" \t");
    return rest_.empty() || rest_.front() == ';' || rest_.front() == '}';
  }

  std::string_view rest_;
};

}  // namespace

bool is_plain_sed(std::string_view script) {
  return script.find('\n') == std::string_view::npos &&
         reader{script}.is_plain();
}

}  // namespace riffle::core
