// SPDX-License-Identifier: MIT
#include "actors/core/shell_parts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace riffle::core {

namespace {

constexpr int deepest = 16;
/// No line that a person would read; each rule looks at all of them.
constexpr std::size_t most_words = 4096;

bool is_in(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

bool is_number(const shell_word& x) {
  return !x.quoted && !x.text.empty() && x.kind == word_kind::plain &&
         x.text.find_first_not_of("0123456789") == std::string::npos;
}

/// Words that mean themselves, though made of pattern characters.
bool is_sign(const shell_word& x) {
  constexpr std::array<std::string_view, 8> signs = {"!", "{",  "}", "{}",
                                                     "[", "[[", "]", "]]"};
  return !x.quoted && std::ranges::find(signs, x.text) != signs.end();
}

/// `${…}` that only takes a value, between its braces: what is evaluated
/// (${!x}, ${x@P}, ${a[i]}, ${x:i}) may run a command that stands in a value.
bool is_simple_parameter(std::string_view x) {
  if (x.starts_with('#')) x.remove_prefix(1);
  if (x.size() == 1 && is_in("@*#?$!-", x[0])) return true;
  const auto end = static_cast<std::size_t>(
      std::ranges::find_if_not(x, is_name) - x.begin());
  if (end == 0) return false;
  x.remove_prefix(end);
  const bool colon = x.starts_with(':');
  if (colon) x.remove_prefix(1);
  if (x.empty()) return !colon;
  // `=` would set a variable that nobody sees being set.
  return is_in(colon ? "-+?" : "-+?#%/", x[0]) &&
         x.find_first_of("$`'\"\\{(<>") == std::string_view::npos;
}

constexpr std::string_view count = "$(nproc)";
/// Whether no function of the line can have its name.
bool only_counts(std::string_view line) {
  constexpr std::string_view odd = "(\\`";
  auto i = line.find_first_of(odd);
  for (; i > 0 && i != line.npos && line.substr(i - 1).starts_with(count);)
    i = line.find_first_of(odd, i + 1);
  return i == line.npos && line.find("function") == line.npos;
}

class scanner {
 public:
  explicit scanner(std::string_view line) : line_{line} {}

  shell_line scan() && {
    list(0);
    return std::move(out_);
  }

 private:
  /// One list of commands on its way.
  struct state {
    shell_part part;
    shell_part targets;
    shell_word word;
    bool in_word = false;
    bool assigns = false;    ///< the word has a "=" or ":" so far
    bool target = false;     ///< the next word is a redirection's
    bool input = false;      ///< so, of `<<<`
    bool both_sent = false;  ///< `&>`: for other shells a border
    int parentheses = 0;
  };

  [[nodiscard]] bool over() const { return at_ >= line_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool next_is(std::string_view text) const {
    return line_.substr(at_).starts_with(text);
  }
  /// No need to look further: the line is in doubt as a whole.
  void give_up() {
    out_.clear = false;
    at_ = line_.size();
  }

  static void mark(state& s, word_kind kind) {
    s.in_word = true;
    s.word.kind = std::max(s.word.kind, kind);
  }
  static void put(state& s, char c) {
    s.in_word = true;
    s.assigns = s.assigns || c == '=' || c == ':';
    s.word.text += c;
  }

  void end_word(state& s) {
    if (!s.in_word) return;
    auto word = std::exchange(s.word, {});
    s.in_word = s.assigns = false;
    if (is_sign(word)) word.kind = word_kind::plain;
    // Text like '$(rm x)' runs when something evaluates it (eval, [[ -eq).
    if (word.text.find("$(") != std::string::npos ||
        word.text.find('`') != std::string::npos)
      return give_up();
    if (++words_ > most_words) return give_up();
    word.target = std::exchange(s.target, false);
    word.input = std::exchange(s.input, false);
    if (word.target) return s.targets.push_back(std::move(word));
    if (s.both_sent) return give_up();
    s.part.push_back(std::move(word));
  }

  void end_part(state& s, int depth) {
    end_word(s);
    s.target = s.input = s.both_sent = false;
    std::ranges::move(s.targets, std::back_inserter(s.part));
    s.targets.clear();
    if (s.part.empty()) return;
    // The `)` of its patterns would end the substitution around it.
    const bool is_case = std::ranges::any_of(
        s.part, [](const shell_word& x) { return x.text == "case"; });
    if (depth > 0 && is_case) give_up();
    out_.parts.push_back(std::exchange(s.part, {}));
  }

  /// Up to the end, or to the `)` of the substitution that it stands in.
  void list(int depth) {
    state s;
    if (depth > deepest) return give_up();
    while (!over()) {
      const char c = peek();
      if (c == ')' && depth > 0 && s.parentheses == 0) {
        ++at_;
        return end_part(s, depth);
      }
      if (is_in(" \t", c)) {
        ++at_;
        end_word(s);
      } else if (c == '#' && !s.in_word) {
        at_ = std::min(line_.find('\n', at_), line_.size());
      } else if (is_in("\n;&|()", c)) {
        border(s, depth);
      } else if (is_in("<>", c)) {
        redirection(s, depth);
      } else {
        piece(s, depth);
      }
    }
    end_part(s, depth);
    if (depth > 0 || !here_.empty()) out_.clear = false;  // its end is missing
  }

  void border(state& s, int depth) {
    const char c = peek();
    if (!here_.empty() && c == '\n') {
      if (depth > 0 || !skip_document()) return give_up();
      return end_part(s, depth);
    }
    if (next_is("&>")) {
      end_word(s);
      at_ += next_is("&>>") ? 3 : 2;
      s.target = s.both_sent = true;
      return;
    }
    if (c == '(') {
      // Arithmetic; patterns and arrays, which are one word.
      if (next_is("((") || (s.in_word && peek(1) != ')')) return give_up();
      const auto next = line_.find_first_not_of(" \t\n\\", at_ + 1);
      if (next != std::string_view::npos && line_[next] == ')')
        out_.functions = true;
      ++s.parentheses;
    }
    if (c == ')' && s.parentheses > 0) --s.parentheses;
    ++at_;
    end_part(s, depth);
  }

  void redirection(state& s, int depth) {
    if (peek(1) == '(') {  // process substitution: a word, or a part of one
      mark(s, word_kind::open);
      put(s, peek());
      at_ += 2;
      return list(depth + 1);
    }
    if (s.in_word && is_number(s.word)) {
      s.word = {};
      s.in_word = s.assigns = false;
    }
    // `{a[i]}>f` evaluates the subscript.
    if (s.in_word && s.word.text.starts_with('{') &&
        s.word.text.ends_with('}') &&
        s.word.text.find('[') != std::string::npos)
      return give_up();
    end_word(s);
    s.input = next_is("<<<");
    if (s.input) {
      at_ += 3;
    } else if (next_is("<<")) {
      return here_document(s, depth);
    } else {
      ++at_;
      if (is_in("<>&|", peek()) && peek(1) != '(') ++at_;
    }
    s.target = true;
  }

  /// `<<'EOF'`, whose lines are text; in other ones something may run.
  void here_document(state& s, int depth) {
    at_ += 2;
    const char quote = peek();
    const auto end = line_.find(quote, at_ + 1);
    // A subscript takes it in, and what follows (`a[1<<'EOF' ]=x`).
    const bool odd = line_.substr(0, at_).find('[') != line_.npos;
    if (odd || depth > 0 || !here_.empty() || (quote != '\'' && quote != '"') ||
        end == std::string_view::npos)
      return give_up();
    here_ = line_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (here_.empty() || !std::ranges::all_of(here_, is_name) ||
        !is_in("\n;&|<> \t", peek()))
      return give_up();
    s.targets.push_back({.quoted = true, .target = true, .input = true});
  }

  /// From the end of its line. False: it has no end.
  bool skip_document() {
    while (at_ < line_.size()) {
      const auto begin = at_ + 1;
      at_ = std::min(line_.find('\n', begin), line_.size());
      if (begin > at_) return false;
      if (line_.substr(begin, at_ - begin) != here_) continue;
      here_ = {};
      return true;
    }
    return false;
  }

  /// A character, a quote or an expansion of a word.
  void piece(state& s, int depth) {
    const char c = peek();
    if (!here_.empty() && is_in("'\"$\\", c)) return give_up();
    if (c == '\'') return single(s);
    if (c == '"') return double_quotes(s, depth);
    if (c == '$') return dollar(s, depth, false);
    if (c == '`' || c == '\0') return give_up();
    ++at_;
    if (c == '\\') {
      if (over()) return give_up();
      const char escaped = line_[at_++];
      if (escaped == '\n') return go_on();
      s.word.quoted = true;
      // As find has them, and no shell makes anything else of them.
      mark(s, is_in("()!", escaped) ? word_kind::plain : word_kind::open);
      return put(s, escaped);
    }
    const auto byte = static_cast<unsigned char>(c);
    if (const auto end = end_of_revision(c); end > at_) {
      s.word.text += line_.substr(at_ - 1, end - at_ + 1);
      at_ = end;
      return;
    }
    const bool expands = c == '~' ? tilde_expands(s) : is_in("{}", c);
    if (expands || byte < 0x20 || byte == 0x7F)
      mark(s, word_kind::open);
    else if (is_in("*?[]!", c))
      mark(s, word_kind::glob);
    put(s, c);
  }

  /// "~" is a folder at the beginning of a word, and behind "=" and ":" of what
  /// may be an assignment; nowhere behind a letter or digit (`HEAD~2`).
  [[nodiscard]] bool tilde_expands(const state& s) const {
    const char before = at_ > 1 ? line_[at_ - 2] : '\0';
    return !s.in_word || (!is_name(before) && before != '^') || s.assigns;
  }

  /// Behind the "}" of a name or number in git's `stash@{0}` and
  /// `HEAD^{tree}`, of which a shell makes nothing else: no list, no sequence.
  /// 0: it is something else.
  [[nodiscard]] std::size_t end_of_revision(char c) const {
    if (c != '{' || at_ < 2 || !is_in("@^", line_[at_ - 2])) return 0;
    auto end = at_;
    while (end < line_.size() && is_name(line_[end])) ++end;
    return end > at_ && end < line_.size() && line_[end] == '}' ? end + 1 : 0;
  }

  /// Behind a line's continuation. One inside of an operator or an expansion
  /// is for nobody but who hides something.
  void go_on() {
    if (at_ > 2 && is_in("<>&|;($", line_[at_ - 3])) give_up();
  }

  void single(state& s) {
    const auto end = line_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return give_up();
    const auto inside = line_.substr(at_ + 1, end - at_ - 1);
    s.in_word = s.word.quoted = true;
    s.assigns = s.assigns || inside.find_first_of("=:") != inside.npos;
    s.word.text += inside;
    at_ = end + 1;
  }

  void double_quotes(state& s, int depth) {
    s.in_word = s.word.quoted = true;
    for (++at_; !over() && peek() != '"';) {
      const char c = peek();
      if (c == '`' || c == '\0') return give_up();
      if (c == '$') {
        dollar(s, depth, true);
        continue;
      }
      ++at_;
      if (c == '\\' && is_in("$`\"\\\n", peek())) {
        const char escaped = line_[at_++];
        if (escaped == '\n') {
          go_on();
          continue;
        }
        mark(s, word_kind::open);
        put(s, escaped);
      } else {
        put(s, c);
      }
    }
    if (over()) return give_up();
    ++at_;
  }

  /// `-j$(nproc)`: a number, which is no part of a name. 0: it is not that.
  [[nodiscard]] std::size_t end_of_number(const state& s) const {
    if (!counts_ || s.word.text != "-j" || !next_is(count)) return 0;
    const auto end = at_ + count.size();
    return end == line_.size() || is_in(" \t\n;&|\"", line_[end]) ? end : 0;
  }

  void dollar(state& s, int depth, bool in_quotes) {
    if (const auto end = end_of_number(s); end > 0) {
      out_.parts.push_back({shell_word{"nproc"}});
      at_ = end;
      s.in_word = true;
      return put(s, '1');
    }
    mark(s, word_kind::open);
    const char next = peek(1);
    if (next == '[' || (!in_quotes && is_in("'\"", next))) return give_up();
    if (next == '(') {
      if (peek(2) == '(') return give_up();
      put(s, '$');
      at_ += 2;
      list(depth + 1);
      return put(s, ')');
    }
    if (next == '{') {
      const auto end = line_.find('}', at_);
      if (end == std::string_view::npos ||
          !is_simple_parameter(line_.substr(at_ + 2, end - at_ - 2)))
        return give_up();
      at_ = end + 1;
      put(s, '$');
      return put(s, '}');
    }
    ++at_;
    put(s, '$');
  }

  std::string_view line_;
  bool counts_ = only_counts(line_);
  std::string_view here_;  ///< the word that ends the document to come
  std::size_t at_ = 0;
  std::size_t words_ = 0;
  shell_line out_;
};

}  // namespace

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

bool is_reserved(const shell_word& x) {
  constexpr std::array<std::string_view, 15> all = {
      "!",     "{",  "}",  "if",   "then",  "elif", "else", "fi",
      "while", "do", "in", "done", "until", "esac", ";;"};
  return !x.quoted && std::ranges::find(all, x.text) != all.end();
}

shell_line shell_parts(std::string_view line) { return scanner{line}.scan(); }

}  // namespace riffle::core
