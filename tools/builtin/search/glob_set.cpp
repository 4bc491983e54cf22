// SPDX-License-Identifier: MIT
#include "tools/builtin/search/glob_set.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

namespace {

constexpr std::size_t most_alternatives = 256;
constexpr std::size_t deepest_braces = 16;

using texts = std::vector<std::string>;

/// Each of `heads` followed by each of `tails`.
texts joined(const texts& heads, const texts& tails) {
  texts result;
  result.reserve(heads.size() * tails.size());
  for (const auto& head : heads)
    for (const auto& tail : tails) result.push_back(head + tail);
  return result;
}

class brace_expander {
 public:
  brace_expander(std::string_view text, std::size_t limit)
      : text_{text}, limit_{limit} {}

  tl::expected<texts, std::string> run() {
    auto result = sequence(0);
    if (!problem_.empty()) return tl::unexpected{problem_};
    return result;
  }

 private:
  /// Up to "," or "}" of the group that it stands in.
  texts sequence(std::size_t depth) {
    texts result{""};
    while (here_ < text_.size() && problem_.empty()) {
      const char c = text_[here_];
      if (depth > 0 && (c == ',' || c == '}')) break;
      if (c == '{') {
        const auto group = alternatives(depth + 1);
        if (!group.empty() && result.size() > limit_ / group.size())
          problem_ = "more than " + std::to_string(limit_) +
                     " alternatives in braces; use several calls";
        else
          result = joined(result, group);
      } else {
        const auto piece = text_.substr(here_, literal_size());
        for (auto& x : result) x += piece;
        here_ += piece.size();
      }
    }
    return result;
  }

  texts alternatives(std::size_t depth) {
    if (depth > deepest_braces) {
      problem_ = "its braces are nested too deep";
      return {};
    }
    texts result;
    do {
      ++here_;  // past "{" or ","
      for (auto& x : sequence(depth)) result.push_back(std::move(x));
      if (result.size() > limit_) result.resize(limit_ + 1);
    } while (here_ < text_.size() && text_[here_] == ',' && problem_.empty());
    if (here_ == text_.size() && problem_.empty())
      problem_ = R"(a "{" is never closed; write \{ for the character)";
    ++here_;
    return result;
  }

  /// An escaped character and a set stay together.
  [[nodiscard]] std::size_t literal_size() const {
    const auto rest = text_.substr(here_);
    if (rest.front() == '\\') return std::min<std::size_t>(2, rest.size());
    if (rest.front() != '[') return 1;
    std::size_t i = 1;
    if (i < rest.size() && (rest[i] == '!' || rest[i] == '^')) ++i;
    const auto end = rest.find(']', i + 1);
    return end == std::string_view::npos ? 1 : end + 1;
  }

  std::string_view text_;
  std::size_t limit_;
  std::size_t here_ = 0;
  std::string problem_;
};

bool has_part(std::string_view path, std::string_view part) {
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == part) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// "a/b/c*.txt" -> "a/b/": what all matches begin with.
std::string_view plain_folder(std::string_view pattern) {
  const auto special = std::min(pattern.find_first_of("*?[\\"), pattern.size());
  const auto slash = pattern.substr(0, special).rfind('/');
  return slash == std::string_view::npos ? "" : pattern.substr(0, slash + 1);
}

std::string_view common(std::string_view a, std::string_view b) {
  const auto size =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto same = a.substr(0, static_cast<std::size_t>(size));
  const auto slash = same.rfind('/');
  return slash == std::string_view::npos ? "" : same.substr(0, slash + 1);
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> expand_braces(
    std::string_view pattern, std::size_t limit) {
  return brace_expander{pattern, limit}.run();
}

tl::expected<glob_set, std::string> glob_set::parse(std::string_view pattern) {
  if (pattern.find('\0') != std::string_view::npos)
    return tl::unexpected<std::string>{"the pattern holds a NUL byte"};
  auto alternatives = expand_braces(pattern, most_alternatives);
  if (!alternatives)
    return tl::unexpected{"the pattern is wrong: " + alternatives.error()};
  glob_set result;
  bool first = true;
  for (auto& text : *alternatives) {
    while (text.starts_with("./")) text.erase(0, 2);
    if (text.starts_with('/') || has_part(text, ".."))
      return tl::unexpected<std::string>{
          "a pattern is relative and without \"..\", e.g. **/*.cpp; name the "
          "folder as path"};
    auto& added = result.any_of_.emplace_back(text);
    if (added.broken())
      return tl::unexpected<std::string>{
          "the pattern can match nothing: a \"[\" is never closed, or a \"\\\" "
          "stands at its end; write \\[ for the character"};
    result.stem_ =
        first ? plain_folder(text) : common(result.stem_, plain_folder(text));
    first = false;
  }
  while (result.stem_.ends_with('/')) result.stem_.pop_back();
  return result;
}

bool glob_set::matches(std::string_view path) const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [&](const auto& x) { return x.matches(path); });
}

bool glob_set::may_match_in(std::string_view folder) const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [&](const auto& x) { return x.may_match_in(folder); });
}

}  // namespace riffle::tools
