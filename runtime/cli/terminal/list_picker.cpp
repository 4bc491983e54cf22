// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/list_picker.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/service/match_id.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view keys_text = "Up, Down, Enter; Esc: none";
constexpr std::ptrdiff_t all_the_way = 1'000'000;
/// Rows of a terminal that shows all of them at once.
constexpr std::size_t most_numbered = 300;

std::string styled_row(const std::string& row, const char* how, bool color) {
  return color ? how + row + "\x1b[0m" : row;
}

}  // namespace

list_picker::list_picker(std::string question, std::vector<std::string> rows,
                         const std::vector<std::string>& words)
    : question_{std::move(question)}, all_{std::move(rows)}, found_by_{all_} {
  for (std::size_t i = 0; i < words.size() && i < all_.size(); ++i)
    found_by_[i] += " " + words[i];
  narrow();
}

list_picker list_picker::with_way_on() && {
  way_on_ = true;
  narrow();
  return std::move(*this);
}

void list_picker::narrow() {
  shown_.clear();
  const service::word_search wanted{typed_};
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (wanted.finds(found_by_[i]) || (way_on_ && i + 1 == all_.size()))
      shown_.push_back(i);
  at_ = 0;
}

void list_picker::move(std::ptrdiff_t by) {
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  const auto to = static_cast<std::ptrdiff_t>(at_) + by;
  at_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(to, 0, std::max<std::ptrdiff_t>(last, 0)));
}

list_picker::outcome list_picker::on(const key& x) {
  switch (x.what) {
    case key_kind::up: move(-1); break;
    case key_kind::down:
    case key_kind::tab: move(1); break;
    case key_kind::home: move(-all_the_way); break;
    case key_kind::end: move(all_the_way); break;
    case key_kind::text:
      // A line would lose it.
      typed_ += x.text == " " ? x.text : safe_line(x.text, 100);
      narrow();
      break;
    case key_kind::backspace:
      while (!typed_.empty() && (typed_.back() & 0xC0) == 0x80)
        typed_.pop_back();
      if (!typed_.empty()) typed_.pop_back();
      narrow();
      break;
    case key_kind::kill_start:
    case key_kind::kill_word:
      typed_.clear();
      narrow();
      break;
    case key_kind::interrupt:
    case key_kind::end_of_input: return outcome::left;
    case key_kind::enter: return at() ? outcome::chosen : outcome::goes_on;
    default: break;
  }
  return outcome::goes_on;
}

std::optional<std::size_t> list_picker::at() const {
  if (shown_.empty()) return std::nullopt;
  return shown_[at_];
}

std::vector<std::string> list_picker::draw(std::size_t columns,
                                           std::size_t rows, bool color) const {
  const auto room = std::max<std::size_t>(columns, 8) - 1;
  const auto most = std::max<std::size_t>(rows, 4) - 3;
  const auto count = std::min(most, shown_.size());
  // The one that is chosen stands in the middle, as far as that goes.
  const auto first =
      std::min(at_ - std::min(at_, count / 2), shown_.size() - count);
  std::vector<std::string> out{fit(question_, room)};
  for (auto i = first; i < first + count; ++i) {
    const bool here = i == at_;
    const auto row = fit((here ? "> " : "  ") + all_[shown_[i]], room);
    out.push_back(here ? styled_row(row, "\x1b[1m", color) : row);
  }
  if (shown_.empty()) out.push_back(fit("  nothing is called so", room));
  auto below = std::string{keys_text};
  if (count < shown_.size())
    below = std::to_string(at_ + 1) + " of " + std::to_string(shown_.size()) +
            ". " + below;
  if (!typed_.empty()) below = "\"" + typed_ + "\": " + below;
  out.push_back(styled_row(fit(below, room), "\x1b[2m", color));
  return out;
}

std::string list_picker::numbered() const {
  auto out = question_ + "\n";
  const auto row = [&](std::size_t i) {
    return "  " + std::to_string(i + 1) + "  " + all_[i] + "\n";
  };
  const auto count = std::min(all_.size(), most_numbered);
  for (std::size_t i = 0; i < count; ++i) out += row(i);
  if (count < all_.size()) {
    const auto more = all_.size() - count - (way_on_ ? 1 : 0);
    if (more > 0) out += "  … " + std::to_string(more) + " more\n";
    if (way_on_) out += row(all_.size() - 1);
  }
  return out + "Its number and Enter; Enter alone: none\n";
}

std::optional<std::size_t> list_picker::numbered_at(
    std::string_view line) const {
  const auto text = trimmed(line);
  std::size_t n = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n);
  if (read.ec != std::errc{} || read.ptr != end || n == 0 || n > all_.size())
    return std::nullopt;
  return n - 1;
}

}  // namespace riffle::cli
