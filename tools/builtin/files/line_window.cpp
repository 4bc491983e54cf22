// SPDX-License-Identifier: MIT
#include "tools/builtin/files/line_window.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

bool line_window::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (line_ < limits_.offset) {
      if (!skip(bytes)) return true;
      continue;
    }
    if (limits_.lines && taken_ >= *limits_.lines) {
      next_ = line_;
      return false;
    }
    open_ = true;
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    const auto room = limits_.line_bytes - current_.size();
    current_.append(part.substr(0, room));
    cut_ += part.size() - std::min(part.size(), room);
    if (end == bytes.npos) return true;
    bytes.remove_prefix(end + 1);
    if (!take_line(true)) return false;
  }
  return true;
}

bool line_window::feed_zeros(std::uint64_t count) {
  if (count == 0) return true;
  if (line_ < limits_.offset) {
    open_ = true;
    return true;
  }
  const auto first = std::min<std::uint64_t>(count, limits_.line_bytes);
  if (!feed(std::string(static_cast<std::size_t>(first), '\0'))) return false;
  cut_ += count - first;  // the first ones filled the line
  return true;
}

/// Past one line end; false if there is none.
bool line_window::skip(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  open_ = true;
  if (end == bytes.npos) return false;
  bytes.remove_prefix(end + 1);
  ++line_;
  open_ = false;
  return true;
}

bool line_window::take_line(bool ended) {
  const auto line = rendered(ended);
  if (taken_ > 0 && text_.size() + line.size() > limits_.bytes) {
    next_ = line_;
    return false;
  }
  text_ += line;
  ++taken_;
  ++line_;
  open_ = false;
  return true;
}

std::string line_window::rendered(bool ended) {
  std::string line;
  utf8_stream utf8;
  utf8.feed(current_, line);
  if (cut_ == 0) {
    utf8.finish(line);  // a cut may split a character, which is no fault
  } else {
    line += " [... the line goes on for " + std::to_string(cut_) + " bytes]";
  }
  if (utf8.replaced() > 0) replaced_ = true;
  if (ended) line += '\n';
  current_.clear();
  cut_ = 0;
  return line;
}

void line_window::finish() {
  if (!open_ || next_) return;
  if (line_ < limits_.offset)
    ++line_;
  else
    take_line(false);
}

}  // namespace riffle::tools
