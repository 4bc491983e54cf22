// SPDX-License-Identifier: MIT
#include "tools/builtin/web/text_writer.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

void text_writer::settle() {
  if (breaks_ > 0 && !out_.empty()) {
    unsigned there = 0;
    while (there < breaks_ && there < out_.size() &&
           out_[out_.size() - 1 - there] == '\n')
      ++there;
    out_.append(breaks_ - there, '\n');
  } else if (space_ && !at_line_start()) {
    out_ += ' ';
  }
  breaks_ = 0;
  space_ = false;
  out_ += std::exchange(pending_, {});
}

void text_writer::flow(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f";
  while (!text.empty() && !full()) {
    const auto begin = std::min(text.find_first_not_of(blanks), text.size());
    if (begin > 0) space_ = true;
    text.remove_prefix(begin);
    if (text.empty()) return;
    const auto end = std::min(text.find_first_of(blanks), text.size());
    settle();
    out_ += text.substr(0, end);
    text.remove_prefix(end);
  }
}

void text_writer::verbatim(std::string_view text) {
  if (text.empty() || full()) return;
  settle();
  out_ += text;
}

void text_writer::line_break(unsigned lines) {
  breaks_ = std::max(breaks_, lines);
  space_ = false;
}

void text_writer::after_last(std::string_view text) { out_ += text; }

std::string text_writer::take() {
  while (!out_.empty() && (out_.back() == '\n' || out_.back() == ' '))
    out_.pop_back();
  return std::move(out_);
}

}  // namespace riffle::tools
