// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/output_spool.hpp"

#include <algorithm>
#include <utility>

#include "tools/text.hpp"

namespace riffle::tools {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Of any script: bars, arrows and pictures are none.
bool is_letter(char32_t code) {
  return (code >= 0xC0 && code < 0x2000) || (code >= 0x2C00 && code < 0x3000) ||
         (code >= 0x3040 && code < 0xFE00) || (code >= 0x20000);
}

/// What stands behind numbers, and changes as they grow.
bool is_unit(std::string_view word) {
  static constexpr std::string_view units =
      " kb mb gb tb kib mib gib tib ms us ns sec secs min mins hr hrs eta ";
  std::string small{" "};
  for (const char c : word) small += static_cast<char>(c | 0x20);
  return word.size() == 1 || units.find(small += ' ') != units.npos;
}

/// Numbers, units and what bars are made of are in none.
std::string words_of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char c) { return is_letter(c); }) -
        text.begin());
    const auto word = text.substr(0, end);
    if (!word.empty() && !is_unit(word)) out.append(word).append(" ");
    text.remove_prefix(end);
    if (text.empty() || !word.empty()) continue;
    const auto c = first_character(text);
    if (is_letter(c.code)) out += text.substr(0, c.size);
    text.remove_prefix(c.size);
  }
  return out;
}

/// Two states of the same progress. A row that was erased is none.
bool are_alike(std::string_view one, std::string_view other) {
  constexpr std::string_view nothing = " \t\r";
  return one.find_first_not_of(nothing) != one.npos &&
         other.find_first_not_of(nothing) != other.npos &&
         words_of(one) == words_of(other);
}

}  // namespace

output_spool::output_spool(std::size_t cap, std::filesystem::path file)
    : half_{cap / 2}, whole_{std::move(file)} {}

void output_spool::append(std::string_view text, std::string_view all) {
  if (spilled_)
    whole_.write(all);
  else
    all_.append(all);
  bytes_ += all.size();
  passed_ += text.size();
  line_ends_ +=
      static_cast<std::uint64_t>(std::count(all.begin(), all.end(), '\n'));
  if (!all.empty()) open_line_ = all.back() != '\n';
  if (tail_.empty() && head_.size() < half_) {
    const auto part = cut_utf8(text, half_ - head_.size());
    head_.append(part);
    text.remove_prefix(part.size());
  }
  tail_.append(text);
  if (is_too_long()) spill();
  if (tail_.size() > 2 * half_) tail_ = tail_utf8(tail_, half_);
}

void output_spool::leaves_out() {
  leaves_out_ = true;
  spill();
}

void output_spool::spill() {
  if (std::exchange(spilled_, true)) return;
  whole_.write(std::exchange(all_, {}));
}

std::string output_spool::text() const {
  if (!is_too_long()) return head_ + tail_;
  const auto end = tail_utf8(tail_, half_);
  const auto left_out = passed_ - head_.size() - end.size();
  auto result = head_;
  if (!result.empty() && result.back() != '\n') result += '\n';
  result += "[... " + std::to_string(left_out) + " bytes left out ...]\n";
  result += end;
  return result;
}

std::uint64_t output_spool::lines() const noexcept {
  return line_ends_ + (open_line_ ? 1 : 0);
}

bool output_spool::is_too_long() const noexcept {
  return passed_ - head_.size() > half_;
}

void row_states::feed(std::string_view text, std::string& out) {
  if (states_ == 0 && !ended_ && text.find('\r') == text.npos) {
    out += text;
    return;
  }
  while (!text.empty()) {
    if (text[0] == '\n') {
      release(out);
      out += '\n';
      text.remove_prefix(1);
      continue;
    }
    const bool ends = text[0] == '\r';
    if (!ends && std::exchange(ended_, false)) end_state(out);
    ended_ = ends;
    const auto end =
        ends ? text.find_first_not_of('\r') : text.find_first_of("\r\n");
    const auto size = std::min(end, text.size());
    take(text.substr(0, size), out);
    text.remove_prefix(size);
  }
}

void row_states::take(std::string_view part, std::string& out) {
  if (states_ < first_states || long_) {
    out += part;
    return;
  }
  state_ += part;
  if (state_.size() <= longest_state) return;
  pass_last(out);
  out += std::exchange(state_, {});
  long_ = true;
}

void row_states::end_state(std::string& out) {
  if (states_ < first_states) {
    ++states_;
    return;
  }
  if (std::exchange(long_, false)) return;
  if (are_alike(last_, state_)) {
    ++left_out_;
    lossy_ = true;
  } else {
    pass_last(out);
  }
  last_ = std::exchange(state_, {});
}

void row_states::pass_last(std::string& out) {
  if (left_out_ > 0)
    out += "\n[... states of this row left out: " + std::to_string(left_out_) +
           "; | tr '\\r' '\\n' shows them ...]\n";
  out += std::exchange(last_, {});
  left_out_ = 0;
}

void row_states::release(std::string& out) {
  if (are_alike(last_, state_)) {
    ++left_out_;
    lossy_ = true;
    last_.clear();
  }
  pass_last(out);
  out += std::exchange(state_, {});
  states_ = 0;
  ended_ = long_ = false;
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
