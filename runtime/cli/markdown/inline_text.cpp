// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/inline_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace riffle::cli {

namespace {

using pieces = std::vector<marked_text>;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool is_ascii_mark(char c) { return c > ' ' && c < 0x7F && !is_word(c); }

std::size_t run_length(std::string_view text, std::size_t at) {
  const auto end = text.find_first_not_of(text[at], at);
  return std::min(end, text.size()) - at;
}

/// Bytes of the longest that is known, with its marks.
constexpr std::size_t longest_entity = 8;

/// What a name of HTML stands for; nothing: it is none that models write.
std::string_view entity_text(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> all{
      {{"amp", "&"},
       {"lt", "<"},
       {"gt", ">"},
       {"quot", "\""},
       {"apos", "'"},
       {"#39", "'"},
       {"#x27", "'"},
       {"nbsp", "\u00A0"},
       {"hellip", "…"},
       {"mdash", "—"},
       {"ndash", "–"},
       {"rarr", "→"},
       {"times", "×"}}};
  const auto* const found =
      std::ranges::find(all, name, [](const auto& x) { return x.first; });
  return found == all.end() ? std::string_view{} : found->second;
}

void append(pieces& out, std::uint8_t marks, std::string_view text) {
  if (text.empty()) return;
  if (out.empty() || out.back().marks != marks) out.push_back({marks, {}});
  out.back().text += text;
}

/// A line, or the beginning of one. A mark is looked for in the window behind
/// its other end, so that the same bytes mean the same however they came.
class line_reader {
 public:
  line_reader(std::string_view text, bool whole, char before)
      : text_{text}, whole_{whole}, before_{before} {}

  /// Appends what is certain; returns how many bytes that were.
  std::size_t read(pieces& out, std::uint8_t marks) {
    while (at_ < text_.size()) {
      const auto begin = at_;
      if (!step(out, marks)) return begin;
    }
    return at_;
  }

 private:
  enum class found : std::uint8_t { yes, no, unknown };

  [[nodiscard]] std::string_view window() const {
    return text_.substr(at_, longest_marked);
  }
  /// Whether bytes behind the window's may still matter to it.
  [[nodiscard]] bool is_open(std::string_view seen) const {
    return !whole_ && at_ + seen.size() == text_.size() &&
           seen.size() < longest_marked;
  }
  /// What a search that found nothing means.
  [[nodiscard]] found missing() const {
    return is_open(window()) ? found::unknown : found::no;
  }

  void literal(pieces& out, std::uint8_t marks, std::size_t n) {
    append(out, marks, text_.substr(at_, n));
    pass(n);
  }
  void pass(std::size_t n) {
    at_ += n;
    before_ = text_[at_ - 1];
  }

  /// False: it must wait for more.
  bool step(pieces& out, std::uint8_t marks) {
    const auto next = text_.find_first_of("\\`*_~[&<!", at_);
    if (next != at_) {
      literal(out, marks, std::min(next, text_.size()) - at_);
      return true;
    }
    switch (text_[at_]) {
      case '\\': return escaped(out, marks);
      case '`': return settle(in_code(out), out, marks);
      case '[': return settle(link(out, marks), out, marks);
      case '&': return settle(entity(out, marks), out, marks);
      case '<': return settle(bare_link(out, marks), out, marks);
      case '!': return settle(image(out, marks), out, marks);
      default: return settle(emphasized(out, marks), out, marks);
    }
  }

  bool settle(found how, pieces& out, std::uint8_t marks) {
    constexpr std::string_view single = "&<!";
    if (how == found::no) {
      const bool one = single.find(text_[at_]) != single.npos;
      literal(out, marks, one ? 1 : run_length(text_, at_));
    }
    return how != found::unknown;
  }

  bool escaped(pieces& out, std::uint8_t marks) {
    if (at_ + 1 == text_.size() && !whole_) return false;
    if (at_ + 1 < text_.size() && is_ascii_mark(text_[at_ + 1])) {
      ++at_;
    }
    literal(out, marks, 1);
    return true;
  }

  /// Where a run of `n` backticks stands in `seen`, from `from` on.
  [[nodiscard]] std::size_t ticks(std::string_view seen, std::size_t from,
                                  std::size_t n) const {
    while ((from = seen.find('`', from)) != std::string_view::npos) {
      const auto length = run_length(seen, from);
      if (from + length == seen.size() && cut_short(seen)) break;
      if (length == n) return from;
      from += length;
    }
    return std::string_view::npos;
  }

  /// The window ends before the line does, or may do so.
  [[nodiscard]] bool cut_short(std::string_view seen) const {
    return !whole_ || at_ + seen.size() < text_.size();
  }

  found in_code(pieces& out) {
    const auto seen = window();
    const auto n = run_length(seen, 0);
    if (n == seen.size()) return missing();
    const auto end = ticks(seen, n, n);
    if (end == std::string_view::npos) return missing();
    auto inside = seen.substr(n, end - n);
    const bool padded =
        inside.size() > 2 && inside.front() == ' ' && inside.back() == ' ';
    if (padded) inside = inside.substr(1, inside.size() - 2);
    append(out, text_marks::code, inside);
    pass(end + n);
    return found::yes;
  }

  /// Where the run of marks that ends this one begins, from `n` on.
  [[nodiscard]] std::size_t closing(std::string_view seen,
                                    std::size_t n) const {
    const char mark = seen[0];
    for (std::size_t i = n; i < seen.size();) {
      if (seen[i] == '\\') {
        i += 2;
        continue;
      }
      const auto length =
          seen[i] == mark || seen[i] == '`' ? run_length(seen, i) : 1;
      const auto after = i + length;
      if (seen[i] == mark) {
        if (after == seen.size() && cut_short(seen)) break;
        const bool inside_word =
            mark == '_' && after < seen.size() && is_word(seen[after]);
        const bool ends = !is_blank(seen[i - 1]) && !inside_word;
        if (ends && (length == n || length == 3)) return after - n;
      } else if (seen[i] == '`') {
        const auto end = ticks(seen, after, length);
        if (end != std::string_view::npos)
          i = end;
        else if (is_open(seen))
          break;  // what follows may be code
      }
      i += length;
    }
    return std::string_view::npos;
  }

  found emphasized(pieces& out, std::uint8_t marks) {
    const auto seen = window();
    const auto n = run_length(seen, 0);
    if (n == seen.size()) return missing();
    const char mark = seen[0];
    const bool opens = !is_blank(seen[n]) && n <= 3 &&
                       (mark != '_' || !is_word(before_)) &&
                       (mark != '~' || n == 2);
    if (!opens) return found::no;
    const auto end = closing(seen, n);
    if (end == std::string_view::npos) return missing();
    using namespace text_marks;
    const std::uint8_t more = mark == '~' ? struck
                              : n == 1    ? emphasis
                              : n == 2    ? strong
                                          : strong | emphasis;
    line_reader inside{seen.substr(n, end - n), true, mark};
    inside.read(out, marks | more);
    pass(end + n);
    return found::yes;
  }

  /// "[text](address)" becomes "text (address)": nobody is led elsewhere.
  found link(pieces& out, std::uint8_t marks) {
    const auto seen = window();
    const auto close = seen.find_first_of("[]", 1);
    if (close == std::string_view::npos) return missing();
    if (close + 1 == seen.size() && is_open(seen)) return found::unknown;
    if (seen[close] == '[' || !seen.substr(close + 1).starts_with('('))
      return found::no;
    const auto end = seen.find_first_of(") \t", close);
    if (end == std::string_view::npos) return missing();
    if (seen[end] != ')') return found::no;
    const auto text = seen.substr(1, close - 1);
    const auto to = seen.substr(close + 2, end - close - 2);
    line_reader inside{text, true, '['};
    inside.read(out, marks);
    if (to != text && !to.empty()) {
      append(out, marks, text.empty() ? "" : " ");
      append(out, marks | text_marks::address, "(" + std::string{to} + ")");
    }
    pass(end + 1);
    return found::yes;
  }

  /// "![alt](address)": nobody sees a picture here.
  found image(pieces& out, std::uint8_t marks) {
    if (at_ + 1 == text_.size()) return whole_ ? found::no : found::unknown;
    if (text_[at_ + 1] != '[') return found::no;
    ++at_;
    const auto how = link(out, marks);
    if (how != found::yes) --at_;
    return how;
  }

  /// "<https://a.b>"
  found bare_link(pieces& out, std::uint8_t marks) {
    const auto seen = window();
    const auto to = seen.substr(1);
    bool begins = false;
    bool may_begin = false;
    for (const std::string_view scheme : {"https://", "http://", "mailto:"}) {
      begins = begins || to.starts_with(scheme);
      may_begin = may_begin || scheme.starts_with(to);
    }
    if (!begins) return may_begin ? missing() : found::no;
    const auto end = to.find_first_of("<> \t");
    if (end == std::string_view::npos) return missing();
    if (to[end] != '>') return found::no;
    append(out, marks, to.substr(0, end));
    pass(end + 2);
    return found::yes;
  }

  /// "&amp;"
  found entity(pieces& out, std::uint8_t marks) {
    const auto seen = text_.substr(at_, longest_entity);
    const auto end = seen.find(';');
    if (end == std::string_view::npos) {
      const bool named = std::ranges::all_of(
          seen.substr(1), [](char c) { return is_word(c) || c == '#'; });
      const bool more = !whole_ && seen.size() < longest_entity;
      return named && more ? found::unknown : found::no;
    }
    const auto text = entity_text(seen.substr(1, end - 1));
    if (text.empty()) return found::no;
    append(out, marks, text);
    pass(end + 1);
    return found::yes;
  }

  std::string_view text_;
  bool whole_;
  char before_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<marked_text> inline_text::on(std::string_view piece) {
  held_ += piece;
  pieces out;
  const auto n = line_reader{held_, false, before_}.read(out, text_marks::none);
  if (n > 0) before_ = held_[n - 1];
  held_.erase(0, n);
  return out;
}

std::vector<marked_text> inline_text::end() {
  pieces out;
  const auto text = std::exchange(held_, {});
  line_reader{text, true, std::exchange(before_, ' ')}.read(out,
                                                            text_marks::none);
  return out;
}

std::vector<marked_text> marked_line(std::string_view line) {
  inline_text x;
  auto out = x.on(line);
  for (auto& more : x.end()) append(out, more.marks, more.text);
  return out;
}

}  // namespace riffle::cli
