// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/output_spool.hpp"

#include <algorithm>
#include <utility>

#include "tools/text.hpp"

namespace riffle::tools {

output_spool::output_spool(std::size_t cap, std::filesystem::path file)
    : half_{cap / 2}, whole_{std::move(file)} {}

void output_spool::append(std::string_view text) {
  if (text.empty()) return;
  bytes_ += text.size();
  line_ends_ +=
      static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  open_line_ = text.back() != '\n';
  if (spilled_) whole_.write(text);
  if (tail_.empty() && head_.size() < half_) {
    const auto part = cut_utf8(text, half_ - head_.size());
    head_.append(part);
    text.remove_prefix(part.size());
  }
  tail_.append(text);
  if (truncated() && !spilled_) {  // all is still here
    spilled_ = true;
    whole_.write(head_);
    whole_.write(tail_);
  }
  if (tail_.size() > 2 * half_) tail_ = tail_utf8(tail_, half_);
}

std::string output_spool::text() const {
  if (!truncated()) return head_ + tail_;
  const auto end = tail_utf8(tail_, half_);
  const auto left_out = bytes_ - head_.size() - end.size();
  auto result = head_;
  if (!result.empty() && result.back() != '\n') result += '\n';
  result += "[... " + std::to_string(left_out) + " bytes left out ...]\n";
  result += end;
  return result;
}

std::uint64_t output_spool::lines() const noexcept {
  return line_ends_ + (open_line_ ? 1 : 0);
}

bool output_spool::truncated() const noexcept {
  return bytes_ - head_.size() > half_;
}

void row_states::feed(std::string_view text, std::string& out) {
  while (!text.empty()) {
    if (std::exchange(returned_, false)) {
      if (text[0] == '\n') {
        take("\r", out);
      } else {
        end_state(out);
      }
    }
    const auto at = std::min(text.find_first_of("\r\n"), text.size());
    take(text.substr(0, at), out);
    if (at == text.size()) return;
    returned_ = text[at] == '\r';
    if (!returned_) {
      release(out);
      out += '\n';
    }
    text.remove_prefix(at + 1);
  }
}

void row_states::take(std::string_view part, std::string& out) {
  if (part.empty()) return;
  if (states_ < first_states) {
    out += part;
    begun_ = true;
    return;
  }
  if (ended_ && part != "\r") {
    ++left_out_;
    state_.clear();
    ended_ = false;
  }
  state_ += part;
  if (state_.size() > longest_state) release(out);
}

void row_states::end_state(std::string& out) {
  if (states_ < first_states) {
    states_ += std::exchange(begun_, false) ? 1 : 0;
    out += '\r';
  } else if (state_.empty()) {
    out += '\r';
  } else {
    ended_ = true;
  }
}

void row_states::release(std::string& out) {
  if (left_out_ > 0)
    out += "\n[... states of this row, each ended by \\r, left out: " +
           std::to_string(left_out_) + " ...]\n";
  out += state_;
  if (ended_) out += '\r';
  state_.clear();
  states_ = left_out_ = 0;
  ended_ = begun_ = false;
}

void row_states::finish(std::string& out) {
  if (std::exchange(returned_, false)) end_state(out);
  release(out);
}

line_reporter::line_reporter(std::string stream, const sink& report)
    : stream_{std::move(stream)}, report_{report} {}

void line_reporter::append(std::string_view text) {
  waiting_.append(text);
  auto end = waiting_.rfind('\n');
  if (end != waiting_.npos)
    ++end;
  else if (waiting_.size() > longest)
    end = waiting_.size();
  else
    return;
  report(std::string_view{waiting_}.substr(0, end));
  waiting_.erase(0, end);
  if (waiting_.size() > longest) flush();
}

void line_reporter::flush() {
  if (waiting_.empty()) return;
  report(waiting_);
  waiting_.clear();
}

void line_reporter::report(std::string_view text) {
  if (!report_) return;
  auto newest = tail_utf8(text, longest);
  if (newest.size() < text.size()) {  // begin with a whole line
    const auto end = newest.find('\n');
    if (end != newest.npos && end + 1 < newest.size())
      newest.remove_prefix(end + 1);
  }
  report_({.message = std::string{newest}, .stream = stream_});
}

}  // namespace riffle::tools
