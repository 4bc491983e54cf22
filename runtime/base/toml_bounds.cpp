// SPDX-License-Identifier: MIT
#include "runtime/base/toml_bounds.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "messages/utf8.hpp"

namespace riffle {

namespace {

class scanner {
 public:
  scanner(std::string_view text, const toml_limits& limits)
      : text_{text}, limits_{limits} {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  toml_look scan() {
    while (good_ && go_on()) {
      if (peek() == '[')
        header();
      else
        pair();
      if (good_) end_of_line();
    }
    // The byte that was not understood is shown to the parser, which says why.
    const auto understood = good_ ? text_.size() : at_ + 1;
    return {std::move(excess_), std::min(understood, text_.size())};
  }

 private:
  struct frame {
    char close;
    std::size_t depth;
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void refuse() { good_ = false; }

  void exceed(const std::string& message) {
    if (!excess_) excess_ = toml_place(text_, at_, message);
    good_ = false;
  }

  void check_depth(std::size_t depth) {
    if (depth > limits_.depth)
      exceed("nests deeper than " + std::to_string(limits_.depth) + " levels");
  }

  void count_item() {
    if (++items_ > limits_.items)
      exceed("holds more than " + std::to_string(limits_.items) +
             " keys and items");
  }

  void skip_blank(bool lines) {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '#' && lines)
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r')))
        ++at_;
      else
        return;
    }
  }

  /// To the next line that says something; false: there is none.
  bool go_on() {
    skip_blank(true);
    return at_ < text_.size();
  }

  void end_of_line() {
    skip_blank(false);
    if (at_ == text_.size() || peek() == '#' || peek() == '\n' ||
        (peek() == '\r' && peek(1) == '\n'))
      return;
    refuse();
  }

  /// Of any of the four kinds.
  void skip_string() {
    const char quote = peek();
    const std::string_view three =
        quote == '"' ? std::string_view{"\"\"\""} : std::string_view{"'''"};
    const bool many = text_.substr(at_).starts_with(three);
    at_ += many ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '\\' && quote == '"') {
        ++at_;
      } else if (!many && peek() == '\n') {
        return refuse();
      } else if (!many && peek() == quote) {
        ++at_;
        return;
      } else if (many && text_.substr(at_).starts_with(three)) {
        at_ += 3;  // two more quotes may stand before the last three
        for (int i = 0; i < 2 && peek() == quote; ++i) ++at_;
        return;
      }
    }
    at_ = text_.size();
    refuse();
  }

  /// `a."b".c`; returns how deep it leads.
  std::size_t key(std::size_t depth) {
    for (;;) {
      check_depth(++depth);
      skip_blank(false);
      const auto begin = at_;
      if (peek() == '"' || peek() == '\'') {
        skip_string();
      } else {
        constexpr std::string_view ends = ".=[]{},#\"' \t\r\n";
        at_ = std::min(text_.find_first_of(ends, at_), text_.size());
      }
      if (at_ == begin) refuse();
      if (!good_) return depth;
      skip_blank(false);
      if (peek() != '.') return depth;
      ++at_;
    }
  }

  void take(char c) {
    if (peek() != c) return refuse();
    ++at_;
  }

  void header() {
    count_item();
    const bool of_list = peek(1) == '[';
    at_ += of_list ? 2 : 1;
    header_ = key(of_list ? 1 : 0);
    if (good_) take(']');
    if (good_ && of_list) take(']');
  }

  /// The key of a pair with its "="; returns how deep it leads.
  std::size_t key_of_pair(std::size_t depth) {
    count_item();
    depth = good_ ? key(depth) : depth;
    if (good_) take('=');
    return depth;
  }

  void pair() {
    open_.clear();
    auto depth = key_of_pair(header_);
    do {
      if (good_) value(depth);
    } while (good_ && next_value(depth));
  }

  /// A value without parts, or the begin of one with parts, until a value
  /// without parts or an end comes.
  void value(std::size_t depth) {
    while (good_) {
      skip_blank(!open_.empty());
      const char c = peek();
      if (c == '"' || c == '\'') return skip_string();
      if (c != '[' && c != '{') return skip_scalar();
      ++at_;
      if (c == '[') check_depth(++depth);  // tables: their keys count
      open_.push_back({c == '[' ? ']' : '}', depth});
      skip_blank(true);
      if (!good_ || peek() == open_.back().close) return;
      if (c == '{')
        depth = key_of_pair(depth);
      else
        count_item();
    }
  }

  void skip_scalar() {
    const auto begin = at_;
    at_ = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
    if (at_ == begin) refuse();
  }

  /// Goes over what stands behind a value; false: the whole pair is over.
  bool next_value(std::size_t& depth) {
    while (good_ && !open_.empty()) {
      skip_blank(true);
      if (peek() == open_.back().close) {
        ++at_;
        open_.pop_back();
        continue;
      }
      take(',');
      skip_blank(true);
      if (!good_ || peek() == open_.back().close) continue;
      depth = open_.back().depth;
      if (open_.back().close == '}')
        depth = key_of_pair(depth);
      else
        count_item();
      return good_;
    }
    return false;
  }

  std::string_view text_;
  const toml_limits& limits_;
  std::size_t at_ = 0;
  std::size_t header_ = 0;  ///< how deep the last [table] leads
  std::size_t items_ = 0;
  std::vector<frame> open_;
  bool good_ = true;
  std::optional<toml_excess> excess_;
};

}  // namespace

toml_look look_at_toml(std::string_view text, const toml_limits& limits) {
  if (text.size() <= limits.bytes) return scanner{text, limits}.scan();
  return {
      toml_excess{0, 0,
                  "is larger than " + std::to_string(limits.bytes) + " bytes"},
      0};
}

toml_excess toml_place(std::string_view text, std::size_t offset,
                       std::string message) {
  const auto before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n');
  const auto begin = before.rfind('\n');
  const auto here =
      begin == std::string_view::npos ? before : before.substr(begin + 1);
  return {static_cast<std::uint32_t>(line + 1),
          static_cast<std::uint32_t>(count_characters(here) + 1),
          std::move(message)};
}

}  // namespace riffle
