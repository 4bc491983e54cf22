// SPDX-License-Identifier: MIT
#include "tools/builtin/search/grep_output.hpp"

#include <utility>

#include "tools/builtin/files/path_text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

void grep_output::begin_file(const std::string& path) {
  path_ = path_text(path);
  in_file_ = last_ = after_ = 0;
  before_.clear();
}

bool grep_output::add(const line_search::line& x) {
  if (x.matched) {
    if (in_file_++ == 0) ++files_;
    if (limits_.mode == grep_mode::files) return false;
    ++matches_;
  }
  if (limits_.mode != grep_mode::lines || full_) return true;
  if (x.matched)
    show_match(x);
  else
    show_around(x);
  return true;
}

void grep_output::end_file() {
  if (in_file_ == 0 || limits_.mode == grep_mode::lines) return;
  if (limits_.mode == grep_mode::files) ++matches_;
  if (full_) return;
  if (shown_ == limits_.shown) {
    full_ = true;
    return;
  }
  const bool count = limits_.mode == grep_mode::count;
  if (put(count ? path_ + ":" + std::to_string(in_file_) : path_)) ++shown_;
}

std::string grep_output::rendered(char mark, std::uint64_t number,
                                  std::string_view text) const {
  auto result = path_ + mark + std::to_string(number) + mark;
  utf8_stream utf8;
  utf8.feed(text, result);
  utf8.finish(result);
  return result;
}

bool grep_output::put(std::string_view line) {
  if (full_ || text_.size() + line.size() + 1 > limits_.bytes) {
    full_ = true;
    return false;
  }
  report_.add(line);
  text_ += line;
  text_ += '\n';
  return true;
}

void grep_output::show_match(const line_search::line& x) {
  if (shown_ == limits_.shown) {
    full_ = true;
    return;
  }
  const auto first = before_.empty() ? x.number : before_.front().number;
  const bool joins = last_ != 0 && first == last_ + 1;
  if (limits_.context > 0 && !text_.empty() && !joins) put("--");
  for (const auto& line : before_) put(rendered('-', line.number, line.text));
  before_.clear();
  if (!put(rendered(':', x.number, x.text))) return;
  ++shown_;
  last_ = x.number;
  after_ = limits_.context;
}

void grep_output::show_around(const line_search::line& x) {
  if (after_ > 0) {
    --after_;
    if (put(rendered('-', x.number, x.text))) last_ = x.number;
    return;
  }
  if (limits_.context == 0) return;
  before_.push_back({x.number, std::string{x.text}});
  if (before_.size() > limits_.context) before_.pop_front();
}

}  // namespace riffle::tools
