// SPDX-License-Identifier: MIT
#include "tools/builtin/search/line_search.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <utility>

#include "messages/utf8.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t chunk = 256u << 10;
constexpr std::size_t shown_before = 120;  ///< bytes before a match
constexpr std::string_view dots = "\xE2\x80\xA6";

/// The part around `at`, cut at borders of characters.
std::string part_of(std::string_view text, std::size_t at) {
  auto begin = at > shown_before ? at - shown_before : 0;
  while (begin > 0 && begin < at && continues_character(text[begin])) ++begin;
  auto end = std::min(text.size(), begin + line_search::longest_shown);
  while (end < text.size() && end > at && continues_character(text[end])) --end;
  std::string result;
  if (begin > 0) result += dots;
  result += text.substr(begin, end - begin);
  if (end < text.size()) result += dots;
  return result;
}

}  // namespace

line_search::line_search(const line_matcher& pattern, bool all,
                         std::stop_token stop)
    : pattern_{pattern}, all_{all}, stop_{std::move(stop)} {}

line_search::outcome line_search::run(int fd, const sink& to,
                                      const std::function<void()>& alive) {
  outcome result;
  to_ = &to;
  number_ = 1;
  rest_.clear();
  long_ = hit_ = false;
  buffer_.resize(chunk);
  for (;;) {
    if (stop_.stop_requested()) {
      result.error = ECANCELED;
      return result;
    }
    alive();
    const auto count = ::read(fd, buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) result.error = errno;
    if (count <= 0) break;
    std::string_view bytes{buffer_.data(), static_cast<std::size_t>(count)};
    result.bytes += bytes.size();
    const auto nul = bytes.find('\0');
    result.binary = nul != std::string_view::npos;
    if (!take(bytes.substr(0, nul))) return result;
    result.line = number_;
    if (result.binary) return result;
  }
  if (!rest_.empty() || long_) complete(std::exchange(rest_, {}));
  return result;
}

/// False: no more.
bool line_search::take(std::string_view bytes) {
  for (;;) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    const auto text = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      if (!complete(text)) return false;
    } else {
      rest_ += text;
      const auto whole = std::exchange(rest_, {});
      if (!complete(whole)) return false;
    }
  }
  rest_ += bytes;
  if (rest_.size() < window) return true;
  piece(rest_, false);
  rest_.erase(0, rest_.size() - overlap);
  long_ = true;
  return true;
}

/// A line ended; `text` is all of it, or what is left.
bool line_search::complete(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (long_) {
    piece(text, true);
    return emit();
  }
  const bool found = pattern_.matches(text, 0, text.size());
  const auto number = number_++;
  if (!found && !all_) return true;
  if (text.size() <= longest_shown)
    return (*to_)({.number = number, .matched = found, .text = text});
  const auto at = found ? pattern_.find(text, 0, text.size()) : std::nullopt;
  return (*to_)({.number = number,
                 .matched = found,
                 .text = part_of(text, at.value_or(0))});
}

/// One byte around it stays out, so that "^" and "$" hold only at the line's
/// ends.
void line_search::piece(std::string_view text, bool last) {
  const bool first = !long_;
  if (!hit_) {
    const std::size_t begin = first || text.empty() ? 0 : 1;
    const auto end = last ? text.size() : text.size() - 1;
    const auto at = pattern_.find(text, begin, end);
    hit_ = at.has_value();
    if (hit_ || first) shown_ = part_of(text, at.value_or(0));
  }
}

/// The end of a long line.
bool line_search::emit() {
  const line x{.number = number_++, .matched = hit_, .text = shown_};
  const bool wanted = x.matched || all_;
  long_ = hit_ = false;
  return !wanted || (*to_)(x);
}

}  // namespace riffle::tools
